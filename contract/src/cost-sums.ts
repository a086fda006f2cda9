import type { TInteger, TNull, TString, TUnion } from 'typebox';
import { ExactUsd, integer, nullable } from './schema.ts';

type CostSums<Prefix extends string> = {
  [K in `${Prefix}_micros`]: TUnion<[TInteger, TNull]>;
} & { [K in `${Prefix}_usd`]: TUnion<[TString, TNull]> } & { unpriced_requests: TInteger };

export const unpricedRequests = integer({
  description: 'Metered requests to an endpoint without a price; not included in the cost.',
});

/**
 * The sums of what requests cost, by prefix, with what each contains: every response that has such a sum is built of these fields. A
 * sum is null if none of its requests has a price, because 0 would say that they cost nothing.
 */
export function costSums<Prefix extends string>(sums: Readonly<Record<Prefix, string>>): CostSums<Prefix> {
  const fields = Object.entries<string>(sums).flatMap(([prefix, description]) => [
    [
      `${prefix}_micros`,
      nullable(integer(), {
        description: `${description} Micro-USD, rounded half up. Null if none of the requests has a price.`,
      }),
    ],
    [`${prefix}_usd`, nullable(ExactUsd)],
  ]);
  return { ...Object.fromEntries(fields), unpriced_requests: unpricedRequests } as CostSums<Prefix>;
}

/** The part of a cost that fallbacks added. */
export const fallbackPart =
  'The part of the cost for attempts that another attempt followed, at another endpoint or the same one.';
