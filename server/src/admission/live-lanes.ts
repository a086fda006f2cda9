import { setTimeout as delay } from 'node:timers/promises';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import type { LanePriority } from '../domain/snapshot.ts';
import { entryIn } from '../kit/entry-in.ts';
import type { AdmissionEngine } from './engine.ts';
import { type FlowsAsk, isAsked, type LiveFlow } from './live-flows.ts';
import type { LiveOperation } from './live-operations.ts';

/** What a lane's queue looks like, beside the flows to its endpoints. */
export interface LiveLane {
  /** Null for requests that name a model instead of a lane. */
  readonly laneId: string | null;
  readonly waiting: Readonly<Record<LanePriority, number>>;
  /** In how many milliseconds a waiting request can go next; null when none waits or that is unknown. */
  readonly nextSlotMs: number | null;
  /** What the requests wait for, most requests first, and the first of many. */
  readonly limits: readonly AwaitedLimit[];
  /** In the last minute. */
  readonly fallbacks: number;
  /** Requests that got 429 without any attempt, in the last minute. */
  readonly rejections: number;
}

/** A limit that requests of a lane wait for. */
export interface AwaitedLimit {
  readonly limit: AppliedLimit;
  readonly waiting: number;
  /** The user of one of the requests: of a member's limit and a key's limit, they are all of one user. */
  readonly userId: string;
}

export interface LiveTraffic {
  readonly flows: readonly LiveFlow[];
  readonly lanes: readonly LiveLane[];
}

/** The engine does not let others in during a read, so one asks for few requests. */
const SLOTS_PER_READ = 100;
/** The lanes with the longest waits come first; of each lane, those callers that wait longest. */
const SLOTS_MAX = 500;
const CALLERS_PER_LANE = 8;
/** A reader waits 100 ms for all of it, and the counts must not be late because the engine is slow. */
const SLOTS_WITHIN_MS = 60;
/** Each key may have a limit of its own, and a report must stay small. */
const LIMITS_PER_LANE = 20;

/** A waiting request for each caller of each lane, the one that came first. */
type Heads = Map<string | null, Map<string, LiveOperation>>;

/** The queues of one process. The time of the next slot is left unknown while the engine is unavailable. */
export async function lanesOf(
  engine: Pick<AdmissionEngine, 'nextSlots'>,
  live: Iterable<LiveOperation>,
  ask: FlowsAsk,
  recent: Readonly<Record<'fallbacks' | 'rejections', ReadonlyMap<string | null, number>>>,
): Promise<LiveLane[]> {
  const lanes = new Map<string | null, LiveLane>();
  const heads: Heads = new Map();
  const limits = new Map<string | null, Map<string, AwaitedLimit>>();
  const laneOf = (laneId: string | null): LiveLane =>
    lanes.get(laneId) ?? {
      laneId,
      waiting: { interactive: 0, standard: 0, batch: 0 },
      nextSlotMs: null,
      limits: [],
      fallbacks: 0,
      rejections: 0,
    };
  for (const operation of live) {
    const { about, priority, organizationId, queue } = operation.ask;
    if (organizationId !== ask.organizationId || about === undefined || operation.state !== 'waiting')
      continue;
    if (!isAsked(ask, about)) continue;
    const lane = laneOf(about.laneId);
    lanes.set(about.laneId, {
      ...lane,
      waiting: { ...lane.waiting, [priority]: lane.waiting[priority] + 1 },
    });
    noteAwaited(
      entryIn(limits, about.laneId, () => new Map<string, AwaitedLimit>()),
      operation,
      about.userId,
    );
    const callers = heads.get(about.laneId) ?? new Map<string, LiveOperation>();
    heads.set(about.laneId, callers);
    const head = callers.get(queue);
    if (head === undefined || operation.stateSinceMs < head.stateSinceMs) callers.set(queue, operation);
  }
  const late = delay(SLOTS_WITHIN_MS, new Map<string | null, number>(), { ref: false });
  for (const [laneId, nextSlotMs] of await Promise.race([readSlots(engine, ask.organizationId, heads), late]))
    lanes.set(laneId, { ...laneOf(laneId), nextSlotMs });
  for (const [laneId, own] of limits)
    lanes.set(laneId, { ...laneOf(laneId), limits: joinLimits(own.values()) });
  for (const name of ['fallbacks', 'rejections'] as const)
    for (const [laneId, count] of recent[name]) lanes.set(laneId, { ...laneOf(laneId), [name]: count });
  return [...lanes.values()];
}

/** Thousands may wait, so a limit is looked for among the charges once. */
function noteAwaited(awaited: Map<string, AwaitedLimit>, operation: LiveOperation, userId: string): void {
  const { ask, waitsFor } = operation;
  if (waitsFor === null) return;
  const known = awaited.get(waitsFor);
  const limit = known?.limit ?? limitIn(ask, waitsFor);
  if (limit !== undefined) awaited.set(waitsFor, { limit, waiting: (known?.waiting ?? 0) + 1, userId });
}

function limitIn({ candidates }: LiveOperation['ask'], id: string): AppliedLimit | undefined {
  for (const { charges } of candidates) for (const { policy } of charges) if (policy.id === id) return policy;
  return undefined;
}

/** One of each limit, most requests first. */
function joinLimits(awaited: Iterable<AwaitedLimit>): readonly AwaitedLimit[] {
  const joined = new Map<string, AwaitedLimit>();
  for (const each of awaited) {
    const before = joined.get(each.limit.id)?.waiting ?? 0;
    joined.set(each.limit.id, { ...each, waiting: before + each.waiting });
  }
  return [...joined.values()].sort((a, b) => b.waiting - a.waiting).slice(0, LIMITS_PER_LANE);
}

/** One lane for all gateways. */
export function joinLanes(lanes: Iterable<LiveLane>): LiveLane[] {
  const joined = new Map<string | null, LiveLane>();
  for (const lane of lanes) {
    const before = joined.get(lane.laneId);
    joined.set(lane.laneId, before === undefined ? lane : joinTwo(before, lane));
  }
  return [...joined.values()];
}

function joinTwo(a: LiveLane, b: LiveLane): LiveLane {
  return {
    laneId: a.laneId,
    waiting: {
      interactive: a.waiting.interactive + b.waiting.interactive,
      standard: a.waiting.standard + b.waiting.standard,
      batch: a.waiting.batch + b.waiting.batch,
    },
    nextSlotMs: sooner(a.nextSlotMs, b.nextSlotMs),
    limits: joinLimits([...a.limits, ...b.limits]),
    fallbacks: a.fallbacks + b.fallbacks,
    rejections: a.rejections + b.rejections,
  };
}

function sooner(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

async function readSlots(
  engine: Pick<AdmissionEngine, 'nextSlots'>,
  organizationId: string,
  heads: Heads,
): Promise<Map<string | null, number>> {
  const asked = chosenOf(heads);
  const slots = new Map<string | null, number>();
  try {
    for (let from = 0; from < asked.length; from += SLOTS_PER_READ) {
      const part = asked.slice(from, from + SLOTS_PER_READ);
      const found = await engine.nextSlots(
        organizationId,
        part.map(({ ask }) => ask.operationId),
      );
      for (const [index, { ask }] of part.entries()) {
        const laneId = ask.about?.laneId ?? null;
        const next = sooner(slots.get(laneId) ?? null, found[index] ?? null);
        if (next !== null) slots.set(laneId, next);
      }
    }
  } catch {
    // The counts are known without the engine, and its client logs the outage.
  }
  return slots;
}

/** The first caller of every lane, then the second of every lane, and so on. */
function chosenOf(heads: Heads): readonly LiveOperation[] {
  const bySince = (a: LiveOperation, b: LiveOperation) => a.stateSinceMs - b.stateSinceMs;
  const lanes = [...heads.values()]
    .map((callers) => [...callers.values()].sort(bySince).slice(0, CALLERS_PER_LANE))
    .sort(([a], [b]) => (a === undefined || b === undefined ? 0 : bySince(a, b)));
  const rounds = Array.from({ length: CALLERS_PER_LANE }, (_, round) =>
    lanes.flatMap((operations) => operations.slice(round, round + 1)),
  );
  return rounds.flat().slice(0, SLOTS_MAX);
}
