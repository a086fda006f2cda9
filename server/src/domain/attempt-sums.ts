import type { RecordedAttempt, RequestRecord, UsageSource } from './request-record.ts';

/** The least certain source of its attempts is that of a request. */
const SOURCES = ['none', 'reported', 'streamed', 'estimated'] as const satisfies readonly UsageSource[];

/** True unless the attempt says otherwise. Earlier versions recorded only the attempts that they could not prepare. */
export function wasSent({ sent, cause }: Pick<RecordedAttempt, 'sent' | 'cause'>): boolean {
  return sent ?? cause !== 'upstream_not_prepared';
}

/** The usage and cost of a request: the sums of its attempts. */
export type UsedSums = Pick<
  RequestRecord,
  | 'usageSource'
  | 'actualInputTokens'
  | 'actualOutputTokens'
  | 'actualCachedInputTokens'
  | 'actualCacheWrite5mTokens'
  | 'actualCacheWrite1hTokens'
  | 'actualCostMicros'
  | 'actualCostRoundingPicos'
>;

export function sumOfAttempts(attempts: readonly Pick<RecordedAttempt, 'use'>[]): UsedSums {
  let usageSource: UsageSource = 'none';
  let actualInputTokens = 0;
  let actualOutputTokens = 0;
  let actualCachedInputTokens = 0;
  let actualCacheWrite5mTokens = 0;
  let actualCacheWrite1hTokens = 0;
  let actualCostMicros: number | null = null;
  let actualCostRoundingPicos = 0;
  for (const { use } of attempts) {
    if (use === undefined) continue;
    const { source, usage, costMicros, costRoundingPicos = 0 } = use;
    usageSource = lessCertain(usageSource, source);
    actualInputTokens += usage.inputTokens;
    actualOutputTokens += usage.outputTokens;
    actualCachedInputTokens += usage.cachedInputTokens;
    actualCacheWrite5mTokens += usage.cacheWrite5mTokens ?? 0;
    actualCacheWrite1hTokens += usage.cacheWrite1hTokens ?? 0;
    if (costMicros !== null) actualCostMicros = (actualCostMicros ?? 0) + costMicros;
    actualCostRoundingPicos += costRoundingPicos;
  }
  return {
    usageSource,
    actualInputTokens,
    actualOutputTokens,
    actualCachedInputTokens,
    ...(actualCacheWrite5mTokens > 0 && { actualCacheWrite5mTokens }),
    ...(actualCacheWrite1hTokens > 0 && { actualCacheWrite1hTokens }),
    actualCostMicros,
    ...(actualCostRoundingPicos > 0 && { actualCostRoundingPicos }),
  };
}

function lessCertain(one: UsageSource, other: UsageSource): UsageSource {
  return SOURCES.indexOf(one) < SOURCES.indexOf(other) ? other : one;
}
