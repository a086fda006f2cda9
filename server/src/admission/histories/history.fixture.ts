import { isDeepStrictEqual } from 'node:util';
import { createRandom, type Random } from '@relay/testbed/random';
import type { AdmissionAsk, AdmissionEngine, LineListener, Release } from '../engine.ts';
import type { MemoryEngine } from '../memory/engine.ts';
import { Oracle } from './oracle.fixture.ts';
import { randomWorld, type World } from './random-history.fixture.ts';

/** An engine and what it has told its process since it was last asked. */
export interface Told<Engine extends AdmissionEngine = AdmissionEngine> {
  readonly engine: Engine;
  readonly releases: Map<string, Release>;
  /** Organization → when it wants to be called. */
  readonly nextMs: Map<string, number>;
  /** Until what is on its way has arrived; so many releases are expected. */
  settled(releases: number): Promise<void>;
}

export interface Pair {
  readonly reference: Told<MemoryEngine>;
  /** Null: the reference alone is judged. */
  readonly subject: Told | null;
  setNow(nowMs: number): void;
  /** What is left in the subject's store after everything ended, and what only one engine sent to the usage stream. */
  leftovers(): Promise<string[]>;
}

/** Collects what an engine tells. */
export function listening(nowMs: () => number): Omit<Told, 'engine' | 'settled'> & { line: LineListener } {
  const releases = new Map<string, Release>();
  const nextMs = new Map<string, number>();
  return {
    releases,
    nextMs,
    line: {
      released: (operationId, release) => void releases.set(operationId, release),
      next: (organizationId, inMs) => {
        if (inMs === null) nextMs.delete(organizationId);
        else nextMs.set(organizationId, nowMs() + inMs);
      },
      missed: () => undefined,
    },
  };
}

/** One call, as it is made to each engine, and what the reference's answer means. */
export interface Planned<T = unknown> {
  readonly what: string;
  /** Null: all of them. */
  readonly organizationId: string | null;
  run(engine: AdmissionEngine): Promise<T>;
  /** Told after the releases that the same call decided. */
  answered?(answer: T): void;
}

/** An operation, as its gateway knows it. */
export interface Client {
  readonly ask: AdmissionAsk;
  state: 'waiting' | 'dispatched' | 'tried';
  candidate: number;
  /** An earlier attempt was sent and failed. */
  tried: boolean;
  /** Its gateway died: only the sweep ends it. */
  isDead: boolean;
}

/** One random history: the engines, the oracles that watch the reference, and what has happened so far. */
export interface History {
  readonly seed: number;
  readonly random: Random;
  readonly world: World;
  readonly pair: Pair;
  readonly oracles: ReadonlyMap<string, Oracle>;
  /** Operations that are not over yet. */
  readonly clients: Map<string, Client>;
  readonly events: { atMs: number; run(): Planned | null }[];
  readonly findings: { disagreements: string[]; violations: string[] };
  readonly answers: Record<string, number>;
  nowMs: number;
  calls: number;
  configVersion: number;
  serial: number;
  /** Refusals that were tried again. */
  retried: number;
  released(operationId: string, release: Release): void;
}

export function createHistory(pair: Pair, seed: number): History {
  const random = createRandom(seed);
  const world = randomWorld(random, `s${seed}`);
  const states = pair.reference.engine.memory.states;
  return {
    seed,
    random,
    world,
    pair,
    oracles: new Map(world.organizationIds.map((id) => [id, new Oracle(world, () => states.get(id))])),
    clients: new Map(),
    events: [],
    findings: { disagreements: [], violations: [] },
    answers: {},
    // Near the end of a month, so that windows of every period reset during the history.
    nowMs: Date.UTC(2027, 0, 31, 23, 58, 0) + random.integer(0, 100_000),
    calls: 0,
    configVersion: 1,
    serial: 0,
    retried: 0,
    released: () => undefined,
  };
}

export function oracleOf({ oracles }: History, organizationId: string): Oracle {
  const oracle = oracles.get(organizationId);
  if (oracle === undefined) throw new RangeError(organizationId);
  return oracle;
}

/**
 * Makes the calls one after the other to the reference, and together, as one turn of a process does, to the subject. Every
 * answer and every release has to be the same.
 */
export async function perform(history: History, planned: readonly Planned[]): Promise<unknown[]> {
  const { pair, seed, findings } = history;
  const { reference, subject } = pair;
  pair.setNow(history.nowMs);
  history.calls += planned.length;
  const expected: unknown[] = [];
  const released: [string, Release][] = [];
  for (const { organizationId, run, answered } of planned) {
    const oracles =
      organizationId === null ? [...history.oracles.values()] : [oracleOf(history, organizationId)];
    for (const oracle of oracles) oracle.begin();
    const answer = await run(reference.engine);
    await reference.settled(0);
    expected.push(answer);
    // The line is moved before an ask is decided.
    for (const each of takeAll(reference.releases)) {
      released.push(each);
      history.released(...each);
    }
    answered?.(answer);
    for (const oracle of oracles) oracle.look(history.nowMs);
  }
  if (subject === null) return expected;
  const actual = await Promise.all(planned.map(({ run }) => run(subject.engine)));
  await subject.settled(released.length);
  for (const [index, { what }] of planned.entries()) compare(what, actual[index], expected[index]);
  const sort = (list: [string, Release][]) => list.sort(([a], [b]) => (a < b ? -1 : 1));
  compare(
    `released by ${planned.map(({ what }) => what).join(', ')}`,
    sort(takeAll(subject.releases)),
    sort(released),
  );
  return expected;

  function compare(what: string, found: unknown, wanted: unknown): void {
    if (isDeepStrictEqual(found, wanted)) return;
    findings.disagreements.push(
      `seed ${seed}, call ${history.calls}, ${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`,
    );
  }
}

function takeAll(releases: Map<string, Release>): [string, Release][] {
  const all = [...releases];
  releases.clear();
  return all;
}

/** Later events at the same moment stay behind earlier ones. */
export function schedule({ events }: History, atMs: number, run: () => Planned | null): void {
  let at = events.length;
  while (at > 0 && (events[at - 1]?.atMs ?? 0) > atMs) at -= 1;
  events.splice(at, 0, { atMs, run });
}
