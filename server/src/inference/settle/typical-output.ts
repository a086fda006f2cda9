import { entryIn } from '../../kit/entry-in.ts';

const FIRST_GUESS_TOKENS = 256;
/** Above these numbers the ones that learned longest ago are forgotten. */
const NAMES_MAX = 200;
const ORGANIZATIONS_MAX = 5_000;
const WEIGHT_OF_NEWEST = 0.1;

/**
 * The typical output of the answers under one name (a lane, or a model that is called past lanes), for requests without an output
 * limit. Each organization has its own: what one learns changes neither the estimates of another nor how much it can remember.
 */
export interface TypicalOutput {
  tokens(organizationId: string, name: string): number;
  learn(organizationId: string, name: string, outputTokens: number): void;
}

export function createTypicalOutput(): TypicalOutput {
  const organizations = new Map<string, Map<string, number>>();
  return {
    tokens: (organizationId, name) =>
      Math.ceil(organizations.get(organizationId)?.get(name) ?? FIRST_GUESS_TOKENS),
    learn(organizationId, name, outputTokens) {
      // A reported zero says nothing about typical length, and an estimate of zero would admit requests without a
      // reservation.
      if (outputTokens <= 0) return;
      const averages = entryIn(organizations, organizationId, () => new Map<string, number>());
      const known = averages.get(name);
      const next = known === undefined ? outputTokens : known + (outputTokens - known) * WEIGHT_OF_NEWEST;
      putLast(averages, name, next, NAMES_MAX);
      putLast(organizations, organizationId, averages, ORGANIZATIONS_MAX);
    },
  };
}

/** Keeps the map in the order of the last writes, and forgets the oldest above the maximum. */
function putLast<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= most) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
