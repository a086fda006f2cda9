import type { Manner } from './manner.ts';

/** What clients of `/v1` meet. */
export const clientManners: readonly Manner[] = [];
