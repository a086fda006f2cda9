import type { LanePriority } from '../domain/snapshot.ts';

/** The classes of a line, first to last. */
export const CLASS_RANK: Readonly<Record<LanePriority, number>> = { interactive: 0, standard: 1, batch: 2 };
