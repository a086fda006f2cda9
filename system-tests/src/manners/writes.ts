import type { Manner } from './manner.ts';

/** Reading resources and writing them back: versions, lanes with their members, names, limits. */
export const writeManners: readonly Manner[] = [];
