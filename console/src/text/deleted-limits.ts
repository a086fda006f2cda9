import { counted } from '../format/numbers.ts';

/** Limits that a deletion takes along. */
export const deletedLimitsText = {
  title: (count: number) => `Also deletes ${counted(count, 'limit')}`,
  more: (count: number) => `and ${count} more`,
} as const;
