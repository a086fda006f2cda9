import { Link } from '@tanstack/react-router';
import { useAccess } from '../session/use-access.ts';

const LOOK = 'underline decoration-line-strong underline-offset-2 hover:decoration-current';

interface ResourceLinkProps {
  readonly kind: 'lane' | 'endpoint' | 'provider' | 'key' | 'user' | 'team';
  readonly id: string;
  readonly name: string;
}

/** The name of a resource, as a link to its page, its row or the list that shows it; plain without access. */
export function ResourceLink({ kind, id, name }: ResourceLinkProps) {
  const { can, holds } = useAccess();
  const look = { className: LOOK, children: name };
  switch (kind) {
    case 'lane':
      return can('listLanes') ? <Link to="/lanes/$laneId" params={{ laneId: id }} {...look} /> : name;
    case 'endpoint':
      return can('listEndpoints') ? <Link to="/endpoints" search={{ open: id }} {...look} /> : name;
    case 'provider':
      return can('listProviders') ? <Link to="/providers" search={{ open: id }} {...look} /> : name;
    case 'key':
      // Who sees the requests of others and not their keys would often open none.
      return can('listOrgApiKeys') || (can('listApiKeys') && !holds('relay:usage:read:organization')) ? (
        <Link to="/keys" search={{ open: id }} {...look} />
      ) : (
        name
      );
    case 'user':
      return can('listMembers') ? <Link to="/members" search={{ q: name }} {...look} /> : name;
    case 'team':
      return can('listTeams') ? <Link to="/teams" search={{ q: name }} {...look} /> : name;
  }
}
