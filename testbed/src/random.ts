let seed: number | undefined;

/**
 * Returns the seed of this process's randomized tests: RELAY_TEST_SEED, or another one in every process, which it then prints,
 * so that a run can be repeated.
 */
export function testSeed(): number {
  if (seed === undefined) {
    const given = process.env['RELAY_TEST_SEED'];
    seed = readSeed(given);
    if (!given) process.stdout.write(`RELAY_TEST_SEED=${seed}\n`);
  }
  return seed;
}

function readSeed(text: string | undefined): number {
  if (text === undefined || text === '') return Math.floor(Math.random() * 2 ** 31);
  const given = Number(text);
  if (!Number.isSafeInteger(given) || given < 0)
    throw new RangeError('RELAY_TEST_SEED must be a whole number, 0 or more');
  return given % 2 ** 31;
}

/** A repeatable generator (mulberry32): the same seed gives the same numbers on every machine. */
export interface Random {
  /** From 0 to just below 1. */
  next(): number;
  integer(min: number, max: number): number;
  pick<T>(items: readonly T[]): T;
}

export function createRandom(from: number): Random {
  let state = from >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    integer,
    pick<T>(items: readonly T[]): T {
      const item = items[integer(0, items.length - 1)];
      if (item === undefined) throw new RangeError('nothing to pick from');
      return item;
    },
  };
}
