import { ResourceLink } from '../../parts/resource-link.tsx';
import { text } from '../../text/index.ts';
import type { LimitRow } from './limit-row.ts';
import type { LimitPlaces } from './use-limit-places.ts';

const words = text.limits;

interface ScopeLinkProps {
  readonly row: LimitRow;
  readonly places: LimitPlaces;
}

/** What a limit applies to, as a link. */
export function ScopeLink({ row, places }: ScopeLinkProps) {
  const { scope, scopeId } = row;
  if (scope === 'global' || scopeId === null) return <span>{words.scopes.global}</span>;
  const name = places.names.scope(row);
  const providerOf = () => places.credentials.find(({ id }) => id === scopeId)?.provider_id ?? scopeId;
  return (
    <span>
      <span className="text-ink-faint">{words.scopes[scope]}</span>{' '}
      {scope === 'credential' ? (
        <ResourceLink kind="provider" id={providerOf()} name={name} />
      ) : (
        <ResourceLink kind={scope === 'model' ? 'endpoint' : scope} id={scopeId} name={name} />
      )}
    </span>
  );
}

/** The owner of the limit; nothing for a shared limit. */
export function SubjectLink({ row, places }: ScopeLinkProps) {
  const { kind, subjectId } = row;
  const name = places.names.subject(row);
  if (name === null || kind === 'resource') return null;
  return (
    <span>
      <span className="text-ink-faint">{words.subjects[kind]}</span>{' '}
      <ResourceLink kind={kind === 'api_key' ? 'key' : kind} id={subjectId ?? ''} name={name} />
    </span>
  );
}
