import { isDeepStrictEqual } from 'node:util';
import type { AdmissionAsk, AdmissionEngine, CandidateAsk } from '../engine.ts';
import { Oracle } from './oracle.fixture.ts';
import {
  createRandom,
  type Random,
  randomCandidates,
  randomWorld,
  type World,
} from './random-history.fixture.ts';

export const LEASE_MS = 20_000;

export interface Pair {
  readonly reference: AdmissionEngine;
  readonly subject: AdmissionEngine;
  setNow(nowMs: number): void;
  /** What is left in the subject's store after everything ended, and what only one engine sent to the usage stream. */
  leftovers(): Promise<string[]>;
}

/** An operation that is not over yet, as its gateway knows it. */
export interface Open {
  readonly ask: AdmissionAsk;
  state: 'waiting' | 'line' | 'dispatched';
  candidate: number;
  slotMs: number;
  lateMs: number;
  /** An earlier attempt was sent and failed. */
  readonly tried: boolean;
}

/** One random history: both engines, the oracle that watches them, and what has happened so far. */
export interface History {
  readonly seed: number;
  readonly random: Random;
  readonly world: World;
  readonly oracle: Oracle;
  readonly open: Map<string, Open>;
  readonly disagreements: string[];
  /** How often each kind of answer came. */
  readonly answers: Record<string, number>;
  nowMs: number;
  newOperationId(): string;
  /** Runs the step in both engines and compares what they answer. */
  both<T>(what: string, step: (engine: AdmissionEngine) => Promise<T>): Promise<T>;
}

export function createHistory(pair: Pair, seed: number): History {
  const random = createRandom(seed);
  let serial = 0;
  const history: History = {
    seed,
    random,
    world: randomWorld(random, `s${seed}`),
    oracle: new Oracle(),
    open: new Map(),
    disagreements: [],
    answers: {},
    // Near the end of a month, so that windows of every period reset during the history.
    nowMs: Date.UTC(2027, 0, 31, 23, 59, 0) + random.integer(0, 50_000),
    newOperationId() {
      serial += 1;
      return `op-${String(serial).padStart(7, '0')}`;
    },
    async both(what, step) {
      pair.setNow(history.nowMs);
      const expected = await step(pair.reference);
      const actual = await step(pair.subject);
      if (!isDeepStrictEqual(actual, expected)) {
        history.disagreements.push(
          `seed ${seed}, ${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`,
        );
      }
      return expected;
    },
  };
  return history;
}

export function newAsk({ random, world }: History, operationId: string): AdmissionAsk {
  const candidates = randomCandidates(random, world);
  return {
    organizationId: random.pick(world.organizationIds),
    operationId,
    queue: random.pick(world.queues),
    waitersMax: random.pick([2, 8, 1_000]),
    // Some have no charges, as requests without limits do; they are in the same queues.
    candidates: random.integer(1, 4) === 1 ? uncharged(candidates) : candidates,
    selection: random.pick(['preferred', 'soonest']),
    waitMsMax: random.pick([0, 200, 5_000, 30_000, 90_000]),
    leaseMs: random.pick([LEASE_MS, LEASE_MS * 10]),
    draft: operationId,
  };
}

function uncharged(candidates: readonly CandidateAsk[]): CandidateAsk[] {
  return candidates.map((candidate) => ({ ...candidate, charges: [] }));
}

/** The charges of the candidate that the operation was given. */
export function chargesOf({ ask, candidate }: Pick<Open, 'ask' | 'candidate'>): CandidateAsk['charges'] {
  return ask.candidates[candidate]?.charges ?? [];
}
