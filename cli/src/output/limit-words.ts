import type { components } from '@relay/contract/api-types';
import { limitRuleWords } from '@relay/contract/words';

type BoundPolicy = components['schemas']['BoundPolicy'];
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

/** The limit of a logged request, whose value is not in the log: "key limit: requests per minute on one lane". */
export function boundPolicyWords({ policy_kind, scope_type, metric, period }: BoundPolicy): string {
  const window = period === 'none' ? '' : ` per ${period}`;
  return `${kindWords[policy_kind]} limit: ${METRICS[metric]}${window}${placeWords(policy_kind, scope_type)}`;
}

function placeWords(kind: Kind, scopeType: string): string {
  if (scopeType !== 'global') return ` on one ${scopeType}`;
  return kind === 'resource' ? ' across the organization' : '';
}
