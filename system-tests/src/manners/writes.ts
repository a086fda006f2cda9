import { laneManners } from './lane-writes.ts';
import { limitManners } from './limit-writes.ts';
import type { Manner } from './manner.ts';
import { repeatedManners } from './repeated-writes.ts';

/** Reading resources and writing them back: versions, lanes with their members, names, limits. */
export const writeManners: readonly Manner[] = [...repeatedManners, ...laneManners, ...limitManners];
