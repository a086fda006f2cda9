import { costPicos, storedMoney } from './money/money.ts';
import type { Usage } from './money/usage.ts';
import type { AttemptUse, RequestRecord, UsageDetails } from './request-record.ts';
import type { Pricing } from './snapshot.ts';

/** Returns the usage with its cost at this price. */
export function useAt(pricing: Pricing | undefined, usage: Usage, source: AttemptUse['source']): AttemptUse {
  if (pricing === undefined) return { source, usage, costMicros: null };
  const { micros, roundingPicos } = storedMoney(costPicos(pricing, usage));
  return {
    source,
    usage,
    costMicros: micros,
    ...(roundingPicos > 0 && { costRoundingPicos: roundingPicos }),
  };
}

/** Returns the reported counts other than input, output and cache. */
export function usageDetails({
  reasoningTokens,
  audioInputTokens,
  imageInputTokens,
  audioOutputTokens,
  imageOutputTokens,
  serviceTier,
}: Usage): Pick<RequestRecord, 'usageDetails'> {
  const details: UsageDetails = {
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(audioInputTokens !== undefined && { audioInputTokens }),
    ...(imageInputTokens !== undefined && { imageInputTokens }),
    ...(audioOutputTokens !== undefined && { audioOutputTokens }),
    ...(imageOutputTokens !== undefined && { imageOutputTokens }),
    ...(serviceTier !== undefined && { serviceTier }),
  };
  return Object.keys(details).length === 0 ? {} : { usageDetails: details };
}
