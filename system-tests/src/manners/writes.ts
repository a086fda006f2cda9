import { laneManners } from './lane-writes.ts';
import { limitManners } from './limit-writes.ts';
import type { Manner } from './manner.ts';

/** Lanes with their members, and limits that are changed within their window. */
export const writeManners: readonly Manner[] = [...laneManners, ...limitManners];
