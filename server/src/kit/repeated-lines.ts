import type { Clock } from './clock.ts';

/** Between two lines of one kind: at first this long, and twice as long after each, up to the second. */
const PAUSE_MS = { min: 1_000, max: 60_000 };
const KINDS_MAX = 1_000;
/** What tells one request from another. Two lines that differ only in these, or in numbers, are of one kind. */
const OF_A_REQUEST = new Set(['request_id', 'trace_id', 'span_id', 'err', 'why']);

interface Kind {
  pauseMs: number;
  nextAtMs: number;
  /** Lines that were left out since the last one. */
  repeated: number;
}

/** Decides about a line of a fault: how many of its kind were left out before it, or null to leave it out as well. */
export type RepeatedLines = (message: string, fields: Readonly<Record<string, unknown>>) => number | null;

/**
 * A store or a provider that fails does so for every request. The first line of a kind is written immediately, and then ever fewer, each with the number
 * of those left out; after a minute without one, the next is a first line again.
 */
export function createRepeatedLines(clock: Pick<Clock, 'monotonicMs'>): RepeatedLines {
  const kinds = new Map<string, Kind>();
  return (message, fields) => {
    const nowMs = clock.monotonicMs();
    const key = kindOf(message, fields);
    const known = kinds.get(key);
    if (known !== undefined && nowMs < known.nextAtMs) {
      known.repeated += 1;
      return null;
    }
    const isNew = known === undefined || nowMs - known.nextAtMs > PAUSE_MS.max;
    const pauseMs = isNew ? PAUSE_MS.min : Math.min(PAUSE_MS.max, known.pauseMs * 2);
    kinds.delete(key);
    kinds.set(key, { pauseMs, nextAtMs: nowMs + pauseMs, repeated: 0 });
    for (const oldest of kinds.keys()) {
      if (kinds.size <= KINDS_MAX) break;
      kinds.delete(oldest);
    }
    return known?.repeated ?? 0;
  };
}

function kindOf(message: string, fields: Readonly<Record<string, unknown>>): string {
  const same = Object.entries(fields).filter(
    ([name, value]) => !OF_A_REQUEST.has(name) && typeof value === 'string',
  );
  return JSON.stringify([message, same]);
}
