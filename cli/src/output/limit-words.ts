import type { components } from '@relay/contract/api-types';
import { limitRuleWords } from '@relay/contract/words';

type BoundPolicy = components['schemas']['BoundPolicy'];
type NamedLimit = Omit<BoundPolicy, 'policy_id' | 'subject_id' | 'scope_id' | 'scope_type' | 'resets_at'> & {
  readonly scope_type: string;
};
type Usage = components['schemas']['LimitUsage'];
type Kind = Usage['policy_kind'];

export const kindWords: Readonly<Record<Kind, string>> = {
  resource: 'shared',
  user: 'member',
  team: 'team',
  api_key: 'key',
};

const METRICS: Readonly<Record<Usage['metric'], string>> = {
  requests: 'requests',
  tokens: 'tokens',
  spend: 'spend',
  concurrency: 'concurrent requests',
};

/** "shared limit of 4 concurrent requests across the organization", "key limit of $50.00 per day on one lane". */
export function limitWords(
  limit: Pick<Usage, 'policy_kind' | 'scope_type' | 'metric' | 'period' | 'limit'>,
): string {
  const { policy_kind, scope_type, metric, period, limit: limit_value } = limit;
  return `${kindWords[policy_kind]} limit of ${limitRuleWords({ metric, period, limit_value })}${placeWords(policy_kind, scope_type)}`;
}

/** The limit of a logged request: "key limit of 6 requests per day for Nightly batch on lane Assistant". A deleted limit has no value. */
export function boundPolicyWords(bound: NamedLimit): string {
  const { policy_kind, subject_name, scope_type, scope_name, metric, period, limit_value } = bound;
  const window = period === 'none' ? '' : ` per ${period}`;
  const rule =
    limit_value === null
      ? `: ${METRICS[metric]}${window}`
      : ` of ${limitRuleWords({ metric, period, limit_value })}`;
  const owner = subject_name === null ? '' : ` for ${subject_name}`;
  const place = scope_name === null ? placeWords(policy_kind, scope_type) : ` on ${scope_type} ${scope_name}`;
  return `${kindWords[policy_kind]} limit${rule}${owner}${place}`;
}

function placeWords(kind: Kind, scopeType: string): string {
  if (scopeType !== 'global') return ` on one ${scopeType}`;
  return kind === 'resource' ? ' across the organization' : '';
}
