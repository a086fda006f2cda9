import type { Manner } from './manner.ts';

/** What every management call has in common: methods, queries, headers, secrets, probes. */
export const callManners: readonly Manner[] = [];
