import { entryIn } from '../../kit/entry-in.ts';
import type { TypicalTokens } from '../../protocols/protocol.ts';

type Quantity = keyof TypicalTokens;

const FIRST_GUESS: TypicalTokens = { outputTokens: 256, unseenInputTokens: 4_096 };
/** Above these numbers the ones that learned longest ago are forgotten. */
const NAMES_MAX = 200;
const ORGANIZATIONS_MAX = 5_000;
/** Of the newest, when it is above what is known: two large answers bring the estimate most of the way. */
const WEIGHT_UPWARD = 0.5;
/** Below it, hundreds of small answers change little: they would be a cheap way to make a large one look small. */
const WEIGHT_DOWNWARD = 0.001;
/** What time takes away when the newest is below: an outlier must not bind a lane for days. */
const HALF_LIFE_MS = 10 * 60_000;

/**
 * What requests under one name (a lane, or a model that is called past lanes) use without saying it in advance. Each organization
 * has its own: what one learns changes neither the estimates of another nor how much it can remember.
 */
export interface TypicalUse {
  of(organizationId: string, name: string): TypicalTokens;
  /** `mayLower`: false for what is only known to be used at least. */
  learn(organizationId: string, name: string, quantity: Quantity, tokens: number, mayLower: boolean): void;
}

interface Level {
  readonly tokens: number;
  readonly atMs: number;
}

type Levels = { [quantity in Quantity]?: Level };

export function createTypicalUse({ monotonicMs }: { monotonicMs(): number }): TypicalUse {
  const organizations = new Map<string, Map<string, Levels>>();

  function known(organizationId: string, name: string, quantity: Quantity): number {
    const level = organizations.get(organizationId)?.get(name)?.[quantity];
    return level?.tokens ?? FIRST_GUESS[quantity];
  }

  return {
    of: (organizationId, name) => ({
      outputTokens: Math.ceil(known(organizationId, name, 'outputTokens')),
      unseenInputTokens: Math.ceil(known(organizationId, name, 'unseenInputTokens')),
    }),
    learn(organizationId, name, quantity, tokens, mayLower) {
      // A reported zero says nothing about what is typical, and an estimate of zero would admit requests without a
      // reservation.
      if (tokens <= 0) return;
      const before = known(organizationId, name, quantity);
      if (tokens < before && !mayLower) return;
      const names = entryIn(organizations, organizationId, () => new Map<string, Levels>());
      const levels = names.get(name) ?? {};
      const atMs = monotonicMs();
      const weight =
        tokens > before ? WEIGHT_UPWARD : downwardWeight(atMs - (levels[quantity]?.atMs ?? atMs));
      const next = { tokens: before + (tokens - before) * weight, atMs };
      putLast(names, name, { ...levels, [quantity]: next }, NAMES_MAX);
      putLast(organizations, organizationId, names, ORGANIZATIONS_MAX);
    },
  };
}

function downwardWeight(sinceMs: number): number {
  return 1 - (1 - WEIGHT_DOWNWARD) * 0.5 ** (sinceMs / HALF_LIFE_MS);
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
