import { dollarWords } from '@relay/contract/words';
import type { PolicyDescription } from './limit.ts';
import { METRICS } from './metric.ts';

/** A limit as errors name it. */
export function limitWords(policy: PolicyDescription | null): string {
  if (policy === null) return 'a limit';
  const period = policy.period === 'none' ? 'at once' : `per ${policy.period}`;
  return `the limit of ${amountWords(policy)} ${period} on ${subjectOf(policy)}`;
}

function amountWords({ metric, limit_value }: PolicyDescription): string {
  const { quantity } = METRICS[metric];
  return quantity === 'spend' ? dollarWords(limit_value) : `${limit_value} ${quantity}`;
}

/** Who and what the limit applies to, so that the caller can tell whether another key or lane would help. */
function subjectOf({ policy_kind, scope_type }: PolicyDescription): string {
  const place = scope_type === 'global' ? null : `this ${scope_type}`;
  if (policy_kind === 'resource') return place ?? 'the whole organization';
  const subject = policy_kind === 'user' ? 'everything this user sends' : 'everything sent with this key';
  return place === null ? subject : `${subject} to ${place}`;
}
