import { limitRuleWords } from '@relay/contract/words';
import type { OrganizationSnapshot } from '../snapshot.ts';
import type { PolicyDescription } from './limit.ts';

/** Where the names of limited resources are found. */
export type NamedResources = Pick<OrganizationSnapshot, 'providers' | 'endpoints' | 'lanes'>;

/** A limit as errors name it. */
export function limitWords(policy: PolicyDescription | null, named: NamedResources): string {
  if (policy === null) return 'a limit';
  return `the limit of ${limitRuleWords(policy)} on ${subjectOf(policy, named)}`;
}

const SUBJECTS = {
  user: 'this member’s requests',
  api_key: 'requests with this key',
  team: 'this team’s requests',
} as const satisfies Record<Exclude<PolicyDescription['policy_kind'], 'resource'>, string>;

/** Who and what the limit applies to, so that the caller can tell whether another key or lane would help. */
function subjectOf(policy: PolicyDescription, named: NamedResources): string {
  const { policy_kind } = policy;
  const place = placeOf(policy, named);
  if (policy_kind === 'resource') return place ?? 'the whole organization';
  const subject = SUBJECTS[policy_kind];
  return place === null ? subject : `${subject} to ${place}`;
}

function placeOf({ scope_type, scope_id }: PolicyDescription, named: NamedResources): string | null {
  if (scope_type === 'global') return null;
  const name = nameOf(scope_type, scope_id ?? '', named);
  return name === undefined ? `this ${scope_type}` : `${scope_type} "${name}"`;
}

/** A snapshot has no names of credentials. */
function nameOf(
  scope: PolicyDescription['scope_type'],
  id: string,
  named: NamedResources,
): string | undefined {
  switch (scope) {
    case 'provider':
      return named.providers.get(id)?.name;
    case 'endpoint':
      return named.endpoints.get(id)?.name;
    case 'lane':
      return named.lanes.get(id)?.name;
    default:
      return undefined;
  }
}
