import { createRandom, type Random } from '../chaos/random.ts';

/** The choices of one input: of the seed, its number and its part alone, so that it can be made again by itself. */
export function inputRandom(seed: number, index: number, part: string): Random {
  let mixed = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35);
  for (const character of part) mixed = Math.imul(mixed ^ character.charCodeAt(0), 0x01000193);
  return createRandom(mixed >>> 0);
}
