/** Random choices, reproducible by the seed. */
export interface Random {
  /** At least 0 and below 1. */
  next(): number;
  /** An integer, both ends included. */
  between(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  shuffled<T>(list: readonly T[]): T[];
}

/** Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  const between = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick(from) {
      const picked = from[between(0, from.length - 1)];
      if (picked === undefined) throw new RangeError('nothing to pick from');
      return picked;
    },
    shuffled(list) {
      const rest = [...list];
      return list.flatMap(() => rest.splice(between(0, rest.length - 1), 1));
    },
  };
}
