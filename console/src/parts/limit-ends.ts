import type { NamedLimit, NextLimits } from '@relay/contract';

/** A limit that is used up, or will be before it resets. */
export interface LimitEnd {
  readonly usage: NamedLimit;
  readonly atMs: number;
}

/** The limits that reject requests now or before they reset, and those that last; each in the order of the server. */
export function limitEnds({ limits }: Pick<NextLimits, 'limits'>): {
  readonly ends: readonly LimitEnd[];
  readonly lasting: readonly NamedLimit[];
} {
  return {
    ends: limits.flatMap((usage) =>
      usage.runs_out_at === null ? [] : [{ usage, atMs: Date.parse(usage.runs_out_at) }],
    ),
    lasting: limits.filter(({ runs_out_at: at }) => at === null),
  };
}
