import type { Fleet } from './fleet.ts';
import type { Load } from './load.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** Everything that a kill at a chosen moment needs. */
export interface Scene {
  readonly fleet: Fleet;
  readonly world: World;
  readonly load: Load;
  readonly random: Random;
}

/** Creates the moment and kills. Returns whether the moment was observed before the kill. */
export type Kill = (scene: Scene) => Promise<boolean>;

const AWAY_MS_MAX = 1_200;

export function awayMs({ random }: Scene): number {
  return random.between(0, AWAY_MS_MAX);
}
