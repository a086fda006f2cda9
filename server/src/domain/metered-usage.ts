import { costPicos, storedMoney } from './money/money.ts';
import type { Usage } from './money/usage.ts';
import type { RequestRecord } from './request-record.ts';
import type { Pricing } from './snapshot.ts';

/** What a record keeps of the usage of a request: enough to compute its cost again. */
export function meteredUsage(
  usage: Usage,
): Pick<
  RequestRecord,
  | 'actualInputTokens'
  | 'actualOutputTokens'
  | 'actualCachedInputTokens'
  | 'actualCacheWrite5mTokens'
  | 'actualCacheWrite1hTokens'
  | 'usageDetails'
> {
  const { cacheWrite5mTokens = 0, cacheWrite1hTokens = 0 } = usage;
  return {
    actualInputTokens: usage.inputTokens,
    actualOutputTokens: usage.outputTokens,
    actualCachedInputTokens: usage.cachedInputTokens,
    ...(cacheWrite5mTokens > 0 && { actualCacheWrite5mTokens: cacheWrite5mTokens }),
    ...(cacheWrite1hTokens > 0 && { actualCacheWrite1hTokens: cacheWrite1hTokens }),
    ...detailsOf(usage),
  };
}

/** The cost of a request as its record keeps it. */
export function meteredCost(
  pricing: Pricing,
  usage: Usage,
): Pick<RequestRecord, 'actualCostMicros' | 'actualCostRoundingPicos'> {
  const { micros, roundingPicos } = storedMoney(costPicos(pricing, usage));
  return {
    actualCostMicros: micros,
    ...(roundingPicos > 0 && { actualCostRoundingPicos: roundingPicos }),
  };
}

function detailsOf({
  reasoningTokens,
  audioInputTokens,
  imageInputTokens,
  audioOutputTokens,
  imageOutputTokens,
  serviceTier,
}: Usage): Pick<RequestRecord, 'usageDetails'> {
  const details = {
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(audioInputTokens !== undefined && { audioInputTokens }),
    ...(imageInputTokens !== undefined && { imageInputTokens }),
    ...(audioOutputTokens !== undefined && { audioOutputTokens }),
    ...(imageOutputTokens !== undefined && { imageOutputTokens }),
    ...(serviceTier !== undefined && { serviceTier }),
  };
  return Object.keys(details).length === 0 ? {} : { usageDetails: details };
}
