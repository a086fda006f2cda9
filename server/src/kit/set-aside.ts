import type { Log } from './log.ts';

/** What was stored and could not be read. Each entry is handled apart: a bad one is left out, and the others are not affected. */
export const asideKinds = ['lease', 'line', 'report'] as const;
export type AsideKind = (typeof asideKinds)[number];

export interface SetAside {
  /** Counts it, and says in the log what became of it. Without its content. */
  note(kind: AsideKind, about: Readonly<Record<string, unknown>>, message: string): void;
  counts(): Readonly<Record<AsideKind, number>>;
}

export function createSetAside(log: Pick<Log, 'error'>): SetAside {
  const counts: Record<AsideKind, number> = { lease: 0, line: 0, report: 0 };
  return {
    note(kind, about, message) {
      counts[kind] += 1;
      log.error({ kind, ...about }, message);
    },
    counts: () => counts,
  };
}
