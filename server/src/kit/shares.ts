import { entryIn } from './entry-in.ts';

/**
 * Shares of a bounded number of places: connections, requests that wait, bytes. An owner may hold as many as are left free: one alone gets
 * a half, two a third each, and so on, so that there is a place for the next owner however long the others hold theirs. Those who wait
 * for a place get it in turn.
 */
export interface Shares {
  /**
   * Starts now or when there is room. What `start` gets must be called once, when the places are free again. Returns what gives up
   * waiting, and does nothing after the start.
   */
  take(owner: string, start: Start, places?: number): () => void;
  /** Takes places now and returns what gives them back; null when the owner has its share or waits for more. */
  tryTake(owner: string, places?: number): (() => void) | null;
}

type Start = (giveBack: () => void) => void;

interface Waiting {
  readonly start: Start;
  readonly places: number;
}

/** `divided`: false where one owner may hold everything. */
export function createShares(placesMax: number, divided = true): Shares {
  const held = new Map<string, number>();
  /** In the order of their turns. */
  const waiting = new Map<string, Waiting[]>();
  let total = 0;

  const own = (owner: string) => (divided ? (held.get(owner) ?? 0) : 0);
  const hasRoom = (owner: string, places: number) => own(owner) + places <= placesMax - total;

  function hold(owner: string, places: number): () => void {
    total += places;
    held.set(owner, (held.get(owner) ?? 0) + places);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      total -= places;
      const left = (held.get(owner) ?? places) - places;
      if (left === 0) held.delete(owner);
      else held.set(owner, left);
      if (waiting.size > 0) while (startNext());
    };
  }

  function begin(owner: string, { start, places }: Waiting): void {
    const giveBack = hold(owner, places);
    try {
      start(giveBack);
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  function startNext(): boolean {
    for (const [owner, line] of waiting) {
      const next = line[0];
      if (next === undefined || !hasRoom(owner, next.places)) continue;
      line.shift();
      waiting.delete(owner);
      if (line.length > 0) waiting.set(owner, line);
      begin(owner, next);
      return true;
    }
    return false;
  }

  function leave(owner: string, entry: Waiting): void {
    const line = waiting.get(owner);
    const at = line?.indexOf(entry) ?? -1;
    if (line === undefined || at < 0) return;
    line.splice(at, 1);
    if (line.length === 0) waiting.delete(owner);
    // Those behind it may need less.
    while (startNext());
  }

  return {
    take(owner, start, places = 1) {
      const entry = { start, places };
      if (hasRoom(owner, places) && !waiting.has(owner)) begin(owner, entry);
      else entryIn(waiting, owner, () => []).push(entry);
      return () => leave(owner, entry);
    },
    tryTake: (owner, places = 1) =>
      hasRoom(owner, places) && !waiting.has(owner) ? hold(owner, places) : null,
  };
}
