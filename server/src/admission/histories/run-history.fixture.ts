import { isDeepStrictEqual } from 'node:util';
import { amountOf } from '../../domain/limits/metric.ts';
import type { CalendarPeriod } from '../../domain/limits/period.ts';
import { windowStartMs } from '../calendar-window.ts';
import type { AdmissionAnswer, AdmissionAsk, AdmissionEngine, CandidateAsk } from '../engine.ts';
import { Oracle } from './oracle.fixture.ts';
import {
  createRandom,
  type Random,
  randomCandidates,
  randomPolicy,
  randomWorld,
  type World,
} from './random-history.fixture.ts';

const LEASE_MS = 20_000;
/** A gateway that confirms a little late must not push any true interval over the limit. */
const LATE_MS_MAX = 45;
const OPERATIONS_OPEN_MAX = 60;

export interface HistoryResult {
  readonly ops: number;
  readonly disagreements: readonly string[];
  readonly violations: readonly string[];
  readonly leaks: readonly string[];
  /** How often each kind of answer came, to show that a history was not trivial. */
  readonly answers: Readonly<Record<string, number>>;
}

export interface Pair {
  readonly reference: AdmissionEngine;
  readonly subject: AdmissionEngine;
  setNow(nowMs: number): void;
  /** What is left in the subject's store when everything has ended, and what went to the usage stream of one engine alone. */
  leftovers(): Promise<string[]>;
}

interface Open {
  readonly ask: AdmissionAsk;
  state: 'waiting' | 'line' | 'dispatched';
  candidate: number;
  slotMs: number;
  lateMs: number;
  /** It was sent before, and the attempt failed. */
  readonly tried: boolean;
}

/** One random history, step by step through both engines, watched by the oracle. */
export async function runHistory(pair: Pair, seed: number, ops: number): Promise<HistoryResult> {
  const random = createRandom(seed);
  const world = randomWorld(random, `s${seed}`);
  const oracle = new Oracle();
  const open = new Map<string, Open>();
  const disagreements: string[] = [];
  const answers: Record<string, number> = {};
  // Near the end of a month, so that windows of every period turn over during the history.
  let nowMs = Date.UTC(2027, 0, 31, 23, 59, 0) + random.integer(0, 50_000);
  let serial = 0;

  async function both<T>(what: string, step: (engine: AdmissionEngine) => Promise<T>): Promise<T> {
    pair.setNow(nowMs);
    const expected = await step(pair.reference);
    const actual = await step(pair.subject);
    if (!isDeepStrictEqual(actual, expected)) {
      disagreements.push(
        `seed ${seed}, ${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`,
      );
    }
    return expected;
  }

  /** Who asks again does so under the rules of the moment, as a gateway with a new snapshot does. */
  function underCurrentRules(ask: AdmissionAsk): AdmissionAsk {
    const current = new Map(world.policies.map((policy) => [policy.id, policy]));
    const candidates = ask.candidates.map((candidate) => ({
      ...candidate,
      charges: candidate.charges.map(({ policy, cost }) => ({
        policy: current.get(policy.id) ?? policy,
        cost,
      })),
    }));
    return { ...ask, candidates };
  }

  async function admit(operationId: string, asked: AdmissionAsk, lateMs: number): Promise<void> {
    const before = open.get(operationId);
    const ask =
      before?.state === 'dispatched' && asked.release === undefined ? asked : underCurrentRules(asked);
    let answer = await both(`admit ${operationId}`, (engine) => engine.admit(ask));
    if (answer.kind === 'rebuild') {
      await initialize(ask.organizationId, answer.policyIds);
      answer = await both(`admit ${operationId} again`, (engine) => engine.admit(ask));
    }
    if (answer.kind === 'rebuild') throw new Error(`seed ${seed}: windows stay unknown`);
    const kind = answer.kind === 'refused' ? answer.reason : answer.kind;
    answers[kind] = (answers[kind] ?? 0) + 1;
    // Asking twice for what was dispatched already changes nothing.
    if (before?.state === 'dispatched' && ask.release === undefined) return;
    if (before?.state === 'dispatched')
      endInOracle(operationId, before, ask.release?.dispatched === true ? ask.release : null);
    const sent = before?.state === 'dispatched' && ask.release?.dispatched === true;
    const tried = sent || before?.tried === true;
    note(operationId, ask, answer, before, lateMs, tried);
    if (answer.kind === 'refused' && tried) await settleTried(ask);
  }

  /** Whoever was sent and has nowhere left to go is settled all the same. */
  async function settleTried({ organizationId, operationId }: AdmissionAsk): Promise<void> {
    const actual = { dispatched: true, tokens: 1, spendMicros: 1 };
    await both(`settle ${operationId}`, (engine) =>
      engine.settle({ organizationId, operationId, actual, record: operationId }),
    );
  }

  /** As if the ledger knew of earlier use; the oracle does not, so its judgement only gets milder. */
  async function initialize(organizationId: string, policyIds: readonly string[]): Promise<void> {
    const openings = world.policies
      .filter(({ id }) => policyIds.includes(id))
      .map((policy) => ({
        policy,
        startMs: windowStartMs(policy.period as CalendarPeriod, nowMs),
        amount: random.pick([0, 0, Math.floor(policy.limit / 4)]),
      }));
    await both('initialize', (engine) => engine.initialize(organizationId, openings));
  }

  function note(
    operationId: string,
    ask: AdmissionAsk,
    answer: Exclude<AdmissionAnswer, { kind: 'rebuild' }>,
    before: Open | undefined,
    lateMs: number,
    tried: boolean,
  ): void {
    if (answer.kind === 'refused') {
      open.delete(operationId);
      return;
    }
    const { release: _release, ...kept } = ask;
    const slotMs = answer.kind === 'wait' ? nowMs + answer.waitMs : nowMs;
    const state = answer.kind === 'admitted' ? 'dispatched' : answer.kind === 'wait' ? 'waiting' : 'line';
    const promisedMs = state === 'dispatched' && before?.state === 'waiting' ? before.slotMs : slotMs;
    const { candidate } = answer;
    open.set(operationId, { ask: kept, state, candidate, slotMs: promisedMs, lateMs, tried });
    if (state !== 'dispatched') return;
    for (const { policy, cost } of chargesOf(kept.candidates, answer.candidate)) {
      oracle.dispatched(kept.organizationId, policy, operationId, nowMs, Math.min(promisedMs, nowMs), cost);
    }
  }

  function endInOracle(
    operationId: string,
    entry: Open,
    actual: { tokens: number; spendMicros: number } | null,
  ): void {
    for (const { policy } of chargesOf(entry.ask.candidates, entry.candidate)) {
      oracle.ended(entry.ask.organizationId, policy.id, operationId);
      const used = actual === null ? 0 : amountOf(policy.metric, actual);
      oracle.used(entry.ask.organizationId, policy.id, operationId, used);
    }
  }

  async function arrive(): Promise<void> {
    serial += 1;
    const operationId = `op-${String(serial).padStart(7, '0')}`;
    await admit(operationId, newAsk(random, world, operationId), random.integer(0, LATE_MS_MAX));
  }

  async function end(operationId: string, entry: Open): Promise<void> {
    const { organizationId } = entry.ask;
    open.delete(operationId);
    if (entry.state !== 'dispatched' || random.integer(1, 10) === 1) {
      if (entry.state === 'dispatched') endInOracle(operationId, entry, null);
      await both(`void ${operationId}`, (engine) => engine.void(organizationId, operationId));
      if (entry.tried) await settleTried(entry.ask);
      return;
    }
    const actual = randomActual(random, entry);
    endInOracle(operationId, entry, actual.dispatched ? actual : null);
    await both(`settle ${operationId}`, (engine) =>
      engine.settle({ organizationId, operationId, actual, record: operationId }),
    );
  }

  async function step(): Promise<void> {
    const dice = random.integer(1, 100);
    const someone = open.size === 0 ? undefined : random.pick([...open]);
    if (dice <= 40 && open.size < OPERATIONS_OPEN_MAX) return arrive();
    if (dice <= 62 && someone !== undefined) return end(...someone);
    if (dice <= 70 && someone !== undefined) return admit(someone[0], someone[1].ask, someone[1].lateMs);
    if (dice <= 76 && someone?.[1].state === 'dispatched') {
      return fallBack(...someone);
    }
    if (dice <= 78) return changePolicy();
    if (dice <= 81) {
      const [organizationId, endpointId] = [random.pick(world.organizationIds), random.pick(world.endpoints)];
      const forMs = random.integer(1, 5_000);
      await both('penalize', (engine) => engine.penalize(organizationId, endpointId, forMs));
      return;
    }
    if (dice <= 84) {
      const organizationId = random.pick(world.organizationIds);
      const ids = [...open]
        .filter(([, entry]) => entry.ask.organizationId === organizationId)
        .map(([id]) => id);
      await both('extend', (engine) => engine.extend(organizationId, [...ids, 'op-unknown'], LEASE_MS));
      return;
    }
    if (dice <= 86) return compareUsage();
    if (dice <= 87) return restore();
    return advance();
  }

  /** An attempt has failed and another is asked for. Of some the gateway dies then, and the sweep has to end them. */
  async function fallBack(operationId: string, entry: Open): Promise<void> {
    const dies = random.integer(1, 3) === 1;
    const ask = dies ? { ...entry.ask, leaseMs: LEASE_MS } : entry.ask;
    await admit(operationId, { ...ask, release: randomActual(random, entry) }, entry.lateMs);
    const left = dies ? open.get(operationId) : undefined;
    if (left === undefined) return;
    open.delete(operationId);
    for (const { policy } of chargesOf(left.ask.candidates, left.candidate))
      oracle.ended(left.ask.organizationId, policy.id, operationId);
  }

  function changePolicy(): void {
    const index = random.integer(0, world.policies.length - 1);
    const policy = world.policies[index];
    if (policy === undefined) return;
    const changed = randomPolicy(random, policy.id);
    world.policies = world.policies.with(
      index,
      changed.metric === policy.metric ? changed : { ...policy, limit: changed.limit + 1 },
    );
    for (const organizationId of world.organizationIds) oracle.forget(organizationId, policy.id);
  }

  /** A gateway that heard of a lost store writes down what it has under way; what is still there is left alone. */
  async function restore(): Promise<void> {
    const dispatched = [...open].filter(([, entry]) => entry.state === 'dispatched');
    for (const [id, { ask, candidate }] of dispatched.slice(0, 3)) {
      await both(`restore ${id}`, (engine) => engine.restore(ask, candidate, 100));
    }
    serial += 1;
    const lost = newAsk(random, world, `op-${String(serial).padStart(7, '0')}`);
    const restored = await both('restore', (engine) => engine.restore(lost, 0, 100));
    if (!restored) return;
    for (const { policy } of chargesOf(lost.candidates, 0)) oracle.forget(lost.organizationId, policy.id);
    await both('settle restored', (engine) =>
      engine.settle({
        organizationId: lost.organizationId,
        operationId: lost.operationId,
        actual: { dispatched: true, tokens: 1, spendMicros: 1 },
        record: 'restored',
      }),
    );
  }

  async function compareUsage(): Promise<void> {
    const organizationId = random.pick(world.organizationIds);
    await both('usage', (engine) => engine.usage(organizationId, world.policies));
  }

  /** Time passes; waiters whose slot comes are confirmed in the order of their slots, a little late. */
  async function advance(): Promise<void> {
    const targetMs = nowMs + random.pick([1, 7, 40, 300, 900, 4_000, 30_000]);
    for (;;) {
      const due = [...open].filter(
        ([, { state, slotMs, lateMs }]) => state === 'waiting' && slotMs + lateMs <= targetMs,
      );
      due.sort(([, a], [, b]) => a.slotMs + a.lateMs - (b.slotMs + b.lateMs));
      const first = due[0];
      if (first === undefined) break;
      nowMs = Math.max(nowMs, first[1].slotMs + first[1].lateMs);
      await admit(first[0], first[1].ask, 0);
    }
    nowMs = Math.max(nowMs, targetMs);
    await sweep();
  }

  async function sweep(): Promise<void> {
    await both('sweep', (engine) => engine.sweep());
    // What the sweep ended is no longer open; a lease that is unknown tells which.
    for (const organizationId of world.organizationIds) {
      const ids = [...open]
        .filter(([, entry]) => entry.ask.organizationId === organizationId)
        .map(([id]) => id);
      const gone = await both('extend', (engine) => engine.extend(organizationId, ids, 1));
      for (const id of gone) {
        const entry = open.get(id);
        for (const { policy } of entry === undefined
          ? []
          : chargesOf(entry.ask.candidates, entry.candidate)) {
          oracle.ended(organizationId, policy.id, id);
        }
        open.delete(id);
      }
    }
  }

  for (let done = 0; done < ops && disagreements.length === 0; done += 1) await step();
  for (const [operationId, entry] of [...open]) await end(operationId, entry);
  nowMs += LEASE_MS * 2;
  await sweep();
  const leaks = disagreements.length > 0 ? [] : await pair.leftovers();
  return { ops, disagreements, violations: oracle.violations, leaks, answers };
}

function chargesOf(candidates: readonly CandidateAsk[], index: number): CandidateAsk['charges'] {
  return candidates[index]?.charges ?? [];
}

function uncharged(candidates: readonly CandidateAsk[]): CandidateAsk[] {
  return candidates.map((candidate) => ({ ...candidate, charges: [] }));
}

function newAsk(random: Random, world: World, operationId: string): AdmissionAsk {
  const candidates = randomCandidates(random, world);
  return {
    organizationId: random.pick(world.organizationIds),
    operationId,
    queue: random.pick(world.queues),
    waitersMax: random.pick([2, 8, 1_000]),
    // Some are charged for nothing, as requests without a policy are; they stand in the same queues.
    candidates: random.integer(1, 4) === 1 ? uncharged(candidates) : candidates,
    selection: random.pick(['preferred', 'soonest']),
    waitMsMax: random.pick([0, 200, 5_000, 30_000, 90_000]),
    leaseMs: random.pick([LEASE_MS, LEASE_MS * 10]),
    draft: operationId,
  };
}

function randomActual(
  random: Random,
  entry: Open,
): { dispatched: boolean; tokens: number; spendMicros: number } {
  const charges = chargesOf(entry.ask.candidates, entry.candidate);
  const share = random.pick([0, 0.3, 1, 1, 1.5]);
  const costOf = (metric: string) => charges.find(({ policy }) => policy.metric === metric)?.cost ?? 10;
  return {
    dispatched: random.integer(1, 8) > 1,
    tokens: Math.floor(costOf('tokens') * share),
    spendMicros: Math.floor(costOf('spend') * share),
  };
}
