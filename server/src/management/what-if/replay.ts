import type { Actual, Opening, Refusal, Release } from '../../admission/engine.ts';
import { createMemoryEngine, type MemoryEngine } from '../../admission/memory/engine.ts';
import { outcomeOf } from '../../admission/refusal.ts';
import { describePolicy } from '../../domain/limits/limits.ts';
import { costMicros } from '../../domain/money/money.ts';
import type { Candidate } from '../../domain/routing/routing.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import { entryIn } from '../../kit/entry-in.ts';
import { createEventQueue, type EventQueue } from './event-queue.ts';
import type { LaneOf } from './lane-of.ts';
import type { FailedReplay, ReplayedRequest, TypicalService } from './replayed-request.ts';
import {
  isOfEditedLimit,
  type KeysOfReplay,
  type RoutedReplay,
  type RoutingOfReplay,
  routeReplayed,
} from './route-replayed.ts';
import { countCost, createCostTally, createTally, type IsOfEdit, type Tally } from './tally.ts';

const NOTHING: Actual = { dispatched: true, tokens: 0, spendMicros: 0 };
const NEVER_MS = Number.POSITIVE_INFINITY;

/** A configuration, and what its calendar windows held when the replay begins. */
export interface ReplayedConfiguration {
  readonly snapshot: OrganizationSnapshot;
  readonly keys: KeysOfReplay;
  readonly openings: readonly Opening[];
}

export interface ReplaySettings {
  readonly configuration: ReplayedConfiguration;
  readonly typical: TypicalService;
  readonly laneOf: LaneOf;
  readonly isOfEdit: IsOfEdit;
  /** The limit that the edit is of; null for an edit of something else. */
  readonly editedLimitId: string | null;
  readonly waitersMax: number;
  readonly startMs: number;
}

export interface Replay {
  /** Sends the request when it asked for capacity; what happens before that happens first. */
  send(request: ReplayedRequest): Promise<void>;
  /** Lets those end that wait or are in flight. */
  finish(): Promise<void>;
  /** Whether the edited limit applies to the request in this configuration. */
  isLimited(request: ReplayedRequest): boolean;
  readonly tally: Tally;
}

/** One request in the replay. */
interface Exchange extends RoutedReplay {
  readonly request: ReplayedRequest;
  /** Those that were not tried yet. */
  untried: readonly Candidate[];
  askedMs: number;
  waitedMs: number;
  /** It has asked for capacity and has no answer, or a place in line. */
  asks: boolean;
  /** The endpoint of the attempt that failed last, and what all that failed cost. */
  failedAt: string | null;
  failedMicros: number;
}

interface World extends RoutingOfReplay {
  readonly engine: MemoryEngine;
  readonly events: EventQueue;
  readonly tally: Tally;
  readonly exchanges: Map<string, Exchange>;
  nowMs: number;
  /** When the line has to be moved. */
  stepMs: number;
  /** The engine has done the work of a settlement, and tells about it once this settles. */
  settling: Promise<unknown> | null;
}

/**
 * Requests of the ledger under one configuration, in virtual time: routed by the gateway's own rules, admitted by the reference
 * engine, and in flight for as long as they were.
 */
export async function createReplay(settings: ReplaySettings): Promise<Replay> {
  const { configuration, startMs, typical, laneOf, isOfEdit, editedLimitId, waitersMax } = settings;
  const { snapshot, keys, openings } = configuration;
  const world: World = {
    snapshot,
    keys,
    typical,
    waitersMax,
    editedLimitId,
    asked: new Map(),
    routes: new Map(),
    events: createEventQueue(),
    tally: createTally(laneOf, isOfEdit),
    exchanges: new Map(),
    nowMs: startMs,
    stepMs: NEVER_MS,
    settling: null,
    engine: createMemoryEngine({
      clock: { nowMs: () => world.nowMs },
      append: () => undefined,
      appendExpired: () => undefined,
      line: {
        released: (id, release) => released(world, id, release),
        next: (_, inMs) => {
          world.stepMs = inMs === null ? NEVER_MS : world.nowMs + inMs;
        },
        missed: () => undefined,
      },
    }),
  };
  await world.engine.initialize(snapshot.organizationId, openings);
  return {
    tally: world.tally,
    send: (request) => send(world, request),
    isLimited: (request) => isOfEditedLimit(world, request),
    finish: () => advance(world, Number.MAX_SAFE_INTEGER),
  };
}

async function send(world: World, request: ReplayedRequest): Promise<void> {
  const { events, tally, exchanges } = world;
  await advance(world, request.askMs);
  world.nowMs = Math.max(world.nowMs, request.askMs);
  const routed = routeReplayed(world, request);
  if (typeof routed === 'string') {
    tally.rejected(request, routed, 0, null);
    return;
  }
  const exchange: Exchange = {
    ...routed,
    request,
    untried: routed.candidates,
    askedMs: world.nowMs,
    waitedMs: 0,
    asks: false,
    failedAt: null,
    failedMicros: 0,
  };
  exchanges.set(request.id, exchange);
  const { leavesAfterMs } = request;
  if (leavesAfterMs !== null) events.add(world.nowMs + leavesAfterMs, () => leave(world, exchange));
  await ask(world, exchange, null);
}

/** Lets time pass. */
async function advance(world: World, untilMs: number): Promise<void> {
  const { events, engine, snapshot } = world;
  for (;;) {
    while (world.settling !== null) {
      const { settling } = world;
      world.settling = null;
      await settling;
    }
    const nextMs = Math.min(events.nextMs(), world.stepMs);
    if (nextMs > untilMs) return;
    world.nowMs = Math.max(world.nowMs, nextMs);
    if (world.stepMs > nextMs) await events.take()?.run();
    else {
      world.stepMs = NEVER_MS;
      await engine.step(snapshot.organizationId);
    }
  }
}

async function ask(world: World, exchange: Exchange, release: Actual | null): Promise<void> {
  const { request, route, untried, waitedMs } = exchange;
  exchange.askedMs = world.nowMs;
  exchange.asks = true;
  const waitMsMax = Math.max(0, route.maxWaitMs - waitedMs);
  const answer = await world.engine.admit(
    exchange.ask(untried, release === null ? { waitMsMax } : { waitMsMax, release }),
  );
  switch (answer.kind) {
    case 'rebuild':
      throw new Error(`windows were not initialized: ${answer.policyIds.join(', ')}`);
    case 'wait':
      if (answer.policyId !== null) limitTally(world, answer.policyId).waited += 1;
      return;
    default:
      released(world, request.id, answer);
  }
}

/** The answer to an ask, immediately or after a wait. */
function released(world: World, id: string, release: Release): void {
  const exchange = world.exchanges.get(id);
  if (exchange?.asks !== true) return;
  exchange.asks = false;
  exchange.waitedMs += world.nowMs - exchange.askedMs;
  if (release.kind === 'refused') refuse(world, exchange, release);
  else dispatch(world, exchange, exchange.untried[release.candidate]);
}

function refuse(
  world: World,
  { request, caller, failedAt, failedMicros, waitedMs }: Exchange,
  refusal: Refusal,
): void {
  world.exchanges.delete(request.id);
  if (failedAt === null) {
    const { policyId } = refusal;
    const limit = policyId === null ? null : describePolicy(world.snapshot, caller, policyId);
    world.tally.rejected(request, outcomeOf(refusal, limit).code, waitedMs, policyId);
    if (policyId !== null) limitTally(world, policyId).rejected += 1;
    return;
  }
  // The client gets the response of the attempt that failed.
  world.tally.served(request, waitedMs);
  if (failedMicros > 0) world.tally.cost(request, failedMicros);
  settle(world, request.id, NOTHING);
}

function dispatch(world: World, exchange: Exchange, candidate: Candidate | undefined): void {
  if (candidate === undefined) throw new RangeError('the engine chose a candidate that was not asked for');
  const { request, untried, route, failedAt } = exchange;
  const { id } = candidate.endpoint;
  if (failedAt !== null && failedAt !== id) world.tally.fallback(request);
  const failure = request.failed.find(({ endpointId }) => endpointId === id);
  const left = route.allowFallback ? untried.filter((each) => each !== candidate) : [];
  if (failure === undefined || left.length === 0) {
    world.events.add(world.nowMs + exchange.serviceMs, async () => end(world, exchange, id));
    return;
  }
  exchange.untried = left;
  exchange.failedAt = id;
  world.events.add(world.nowMs + failure.tookMs, () => ask(world, exchange, fail(world, exchange, failure)));
}

/** Counts the cost of a failed attempt, and returns what it used. */
function fail({ snapshot, tally }: World, exchange: Exchange, failure: FailedReplay): Actual {
  const { endpointId, usage, isSent } = failure;
  const pricing = snapshot.pricing.get(endpointId);
  const tokens = usage.inputTokens + usage.outputTokens;
  const spendMicros = pricing === undefined || tokens === 0 ? 0 : costMicros(pricing, usage);
  exchange.failedMicros += spendMicros;
  if (spendMicros > 0) countCost(endpointIn(tally, endpointId).cost, spendMicros);
  return { dispatched: isSent, tokens, spendMicros };
}

function endpointIn(tally: Tally, endpointId: string) {
  return entryIn(tally.endpoints, endpointId, () => ({ served: 0, cost: createCostTally() }));
}

function end(world: World, { request, usage, waitedMs, failedMicros }: Exchange, endpointId: string): void {
  const { tally, snapshot, exchanges } = world;
  exchanges.delete(request.id);
  const pricing = snapshot.pricing.get(endpointId);
  const spendMicros = pricing === undefined ? 0 : costMicros(pricing, usage);
  tally.served(request, waitedMs);
  const isUnpriced = pricing === undefined && usage.free !== true;
  tally.cost(request, isUnpriced ? null : spendMicros + failedMicros);
  const endpoint = endpointIn(tally, endpointId);
  endpoint.served += 1;
  countCost(endpoint.cost, isUnpriced ? null : spendMicros);
  settle(world, request.id, {
    dispatched: true,
    tokens: usage.inputTokens + usage.outputTokens,
    spendMicros,
  });
}

function settle(world: World, operationId: string, actual: Actual): void {
  const { organizationId } = world.snapshot;
  world.settling = world.engine.settle({ organizationId, operationId, actual, record: '' });
}

/** The client of a request that still waits disconnects. */
async function leave({ engine, exchanges, snapshot }: World, exchange: Exchange): Promise<void> {
  if (!exchange.asks) return;
  exchange.asks = false;
  exchanges.delete(exchange.request.id);
  await engine.void(snapshot.organizationId, exchange.request.id);
}

function limitTally({ tally }: World, id: string) {
  return entryIn(tally.limits, id, () => ({ rejected: 0, waited: 0 }));
}
