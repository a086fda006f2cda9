import type { LimitUsage } from '@relay/contract';
import { placeOf, ruleOf, shortAmountOf } from '../../parts/limit-metrics.ts';
import { text } from '../../text/index.ts';

type NameOf = (id: string) => string;

/** Whose limit it is, if not the key's, and what it applies to: "team limit on lane Assistant"; null for all requests of the key. */
export function limitPlace(
  {
    policy_kind: kind,
    scope_type: scope,
    scope_id: id,
  }: Pick<LimitUsage, 'policy_kind' | 'scope_type' | 'scope_id'>,
  nameOf: NameOf,
): string | null {
  const owner = kind === 'user' || kind === 'team' ? text.keys.limitOf[kind] : null;
  const place =
    scope === 'global' || id === null ? null : placeOf({ kind: 'resource', scope }, nameOf(id), null);
  return owner === null || place === null ? (owner ?? place) : `${owner} ${place}`;
}

/** "36 of 36 requests per day on lane Assistant". */
export function limitLine(usage: LimitUsage, nameOf: NameOf): string {
  const taken = shortAmountOf(usage.metric, usage.used + usage.reserved);
  const used = text.limits.used(taken, ruleOf(usage));
  const place = limitPlace(usage, nameOf);
  if (place === null) return used;
  return place.startsWith('on ') ? `${used} ${place}` : `${used}, ${place}`;
}
