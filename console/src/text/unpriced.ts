import { formatCount } from '../format/numbers.ts';

/** Requests at endpoints without a price, and their spend. */
export const unpricedText = {
  /** Instead of a spend. */
  noPrice: 'No price',
  noPriceHint: 'The endpoints used have no price.',
  /** Beside a sum of spend: how many requests it leaves out. */
  excludes: (requests: number) => `+ ${formatCount(requests)} unpriced`,
  excludesHint: 'Requests at endpoints without a price aren’t part of the sum.',
} as const;
