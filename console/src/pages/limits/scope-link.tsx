import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import type { LimitRow } from './limit-row.ts';
import type { LimitPlaces } from './use-limit-places.ts';

const words = text.limits;
const LOOK = 'underline decoration-line-strong underline-offset-2 hover:decoration-current';

interface ScopeLinkProps {
  readonly row: LimitRow;
  readonly places: LimitPlaces;
}

/** What a limit applies to, as a link. */
export function ScopeLink({ row, places }: ScopeLinkProps) {
  const { scope, scopeId } = row;
  if (scope === 'global' || scopeId === null) return <span>{words.scopes.global}</span>;
  const name = places.names.scope(row);
  return (
    <span>
      <span className="text-ink-faint">{words.scopes[scope]}</span>{' '}
      <PlaceLink row={row} places={places}>
        {name}
      </PlaceLink>
    </span>
  );
}

function PlaceLink({ row, places, children }: ScopeLinkProps & { readonly children: ReactNode }) {
  const { can } = useAccess();
  const id = row.scopeId ?? '';
  switch (row.scope) {
    case 'lane':
      return can('listLanes') ? (
        <Link to="/lanes/$laneId" params={{ laneId: id }} className={LOOK}>
          {children}
        </Link>
      ) : (
        children
      );
    case 'endpoint':
    case 'model':
      return can('listEndpoints') ? (
        <Link to="/endpoints" search={{ open: id }} className={LOOK}>
          {children}
        </Link>
      ) : (
        children
      );
    case 'provider':
    case 'credential': {
      const owner = places.credentials.find((credential) => credential.id === id)?.provider_id ?? id;
      return can('listProviders') ? (
        <Link to="/providers" search={{ open: owner }} className={LOOK}>
          {children}
        </Link>
      ) : (
        children
      );
    }
    case 'global':
      return children;
  }
}

/** The owner of the limit; nothing for a shared limit. */
export function SubjectLink({ row, places }: ScopeLinkProps) {
  const { can } = useAccess();
  const name = places.names.subject(row);
  if (name === null || row.kind === 'resource') return null;
  const label = <span className="text-ink-faint">{words.subjects[row.kind]}</span>;
  if (row.kind === 'api_key' && can('listApiKeys'))
    return (
      <span>
        {label}{' '}
        <Link
          to="/keys"
          search={can('listOrgApiKeys') ? { q: name, view: 'organization' } : { q: name }}
          className={LOOK}
        >
          {name}
        </Link>
      </span>
    );
  if (row.kind === 'team' && can('listTeams'))
    return (
      <span>
        {label}{' '}
        <Link to="/teams" search={{ q: name }} className={LOOK}>
          {name}
        </Link>
      </span>
    );
  if (row.kind === 'user' && can('listMembers'))
    return (
      <span>
        {label}{' '}
        <Link to="/members" search={{ q: name }} className={LOOK}>
          {name}
        </Link>
      </span>
    );
  return (
    <span>
      {label} {name}
    </span>
  );
}
