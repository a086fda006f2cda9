import type { LimitUsage } from '@relay/contract';
import { placeOf, ruleOf, shortAmountOf } from '../../parts/limit-metrics.ts';
import { text } from '../../text/index.ts';

type NameOf = (id: string) => string;

/** What a limit of a key applies to: "on lane Assistant"; null for all its requests. */
export function limitPlace(
  { scope_type: scope, scope_id: id }: Pick<LimitUsage, 'scope_type' | 'scope_id'>,
  nameOf: NameOf,
): string | null {
  return scope === 'global' || id === null ? null : placeOf({ kind: 'resource', scope }, nameOf(id), null);
}

/** "36 of 36 requests per day on lane Assistant". */
export function limitLine(usage: LimitUsage, nameOf: NameOf): string {
  const taken = shortAmountOf(usage.metric, usage.used + usage.reserved);
  const used = text.limits.used(taken, ruleOf(usage));
  const place = limitPlace(usage, nameOf);
  return place === null ? used : `${used} ${place}`;
}
