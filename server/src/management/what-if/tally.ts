import type { WhatIfFigures } from '@relay/contract';
import { picosOf } from '../../domain/money/money.ts';
import { entryIn } from '../../kit/entry-in.ts';
import { wireCosts } from '../resources/wire-cost.ts';
import type { LaneOf } from './lane-of.ts';
import type { ReplayedRequest } from './replayed-request.ts';

/** What one limit did. */
export interface LimitTally {
  rejected: number;
  waited: number;
}

/** What requests cost. */
export interface CostTally {
  micros: number;
  /** Requests with a price. */
  priced: number;
  unpriced: number;
}

export interface EndpointTally {
  readonly cost: CostTally;
  served: number;
}

export interface CallerTally {
  readonly keyId: string | null;
  readonly userId: string | null;
  readonly cost: CostTally;
  served: number;
  rejected: number;
  waitMs: number;
}

/** All requests, those that the edited limit applies to, or those to one lane. */
export type TallyPart = 'all' | 'edited' | { readonly laneId: string };

/** Whether the limit that the edit is of applies to the request. */
export type IsOfEdit = (request: ReplayedRequest) => boolean;

/** Counts what requests meet. */
export interface Tally {
  served(request: ReplayedRequest, waitMs: number): void;
  /** `limitId`: the engine's id of the limit that rejected it; null for none. */
  rejected(request: ReplayedRequest, code: string, waitMs: number, limitId: string | null): void;
  /** Null at an endpoint without a price. */
  cost(request: ReplayedRequest, costMicros: number | null): void;
  fallback(request: ReplayedRequest, count?: number): void;
  figures(part: TallyPart): WhatIfFigures;
  /** How many requests each limit rejected, by the engine's id of the limit. */
  rejectedBy(part: TallyPart): ReadonlyMap<string, number>;
  /** Of lanes with requests. */
  laneIds(): Iterable<string>;
  /** By key, or user without one. */
  readonly callers: ReadonlyMap<string, CallerTally>;
  /** By the engine's id of the limit. */
  readonly limits: Map<string, LimitTally>;
  readonly endpoints: Map<string, EndpointTally>;
}

export function createTally(laneOf: LaneOf, isOfEdit: IsOfEdit): Tally {
  const callers = new Map<string, CallerTally>();
  const all = createFiguresTally();
  const edited = createFiguresTally();
  const lanes = new Map<string, FiguresTally>();

  function callerOf({ keyId, userId }: ReplayedRequest): CallerTally {
    return entryIn(callers, keyId ?? userId ?? '', () => ({
      keyId,
      userId,
      cost: createCostTally(),
      served: 0,
      rejected: 0,
      waitMs: 0,
    }));
  }

  function count(request: ReplayedRequest, add: (figures: FiguresTally) => void): void {
    add(all);
    if (isOfEdit(request)) add(edited);
    const laneId = laneOf(request);
    if (laneId !== null) add(entryIn(lanes, laneId, createFiguresTally));
  }

  function figuresIn(part: TallyPart): FiguresTally {
    if (part === 'all') return all;
    return part === 'edited' ? edited : (lanes.get(part.laneId) ?? createFiguresTally());
  }

  return {
    callers,
    limits: new Map(),
    endpoints: new Map(),
    served(request, waitMs) {
      const caller = callerOf(request);
      caller.served += 1;
      caller.waitMs += Math.round(waitMs);
      count(request, (figures) => figures.waitsMs.push(waitMs));
    },
    rejected(request, code, waitMs, limitId) {
      callerOf(request).rejected += 1;
      count(request, (figures) => {
        figures.rejectedWaitMs += waitMs;
        increment(figures.codes, code);
        if (limitId !== null) increment(figures.limits, limitId);
      });
    },
    cost(request, costMicros) {
      countCost(callerOf(request).cost, costMicros);
      count(request, (figures) => countCost(figures.cost, costMicros));
    },
    fallback(request, times = 1) {
      count(request, (figures) => {
        figures.fallbacks += times;
      });
    },
    figures: (part) => figuresOf(figuresIn(part)),
    rejectedBy: (part) => figuresIn(part).limits,
    laneIds: () => lanes.keys(),
  };
}

interface FiguresTally {
  readonly waitsMs: number[];
  readonly codes: Map<string, number>;
  /** By the limit that rejected. */
  readonly limits: Map<string, number>;
  rejectedWaitMs: number;
  fallbacks: number;
  readonly cost: CostTally;
}

export function createCostTally(): CostTally {
  return { micros: 0, priced: 0, unpriced: 0 };
}

/** `micros`: null at an endpoint without a price. */
export function countCost(tally: CostTally, micros: number | null): void {
  if (micros === null) tally.unpriced += 1;
  else {
    tally.priced += 1;
    tally.micros += micros;
  }
}

export function wireCost({ micros, ...counts }: CostTally) {
  return wireCosts({ cost: picosOf({ micros, roundingPicos: 0 }) }, counts);
}

function createFiguresTally(): FiguresTally {
  return {
    waitsMs: [],
    codes: new Map(),
    limits: new Map(),
    rejectedWaitMs: 0,
    fallbacks: 0,
    cost: createCostTally(),
  };
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function figuresOf({ waitsMs, codes, rejectedWaitMs, ...sums }: FiguresTally): WhatIfFigures {
  const sorted = Float64Array.from(waitsMs).sort();
  const rejections = [...codes].map(([code, requests]) => ({ code, requests }));
  return {
    served: waitsMs.length,
    rejected: sumOf(codes.values()),
    rejections: rejections.sort((a, b) => b.requests - a.requests),
    waited: waitsMs.filter((waitMs) => waitMs > 0).length,
    wait_ms: Math.round(sumOf(waitsMs)),
    wait_ms_p50: quantile(sorted, 0.5),
    wait_ms_p95: quantile(sorted, 0.95),
    wait_ms_rejected: Math.round(rejectedWaitMs),
    fallbacks: sums.fallbacks,
    ...wireCost(sums.cost),
  };
}

/** By nearest rank; 0 of nothing. */
function quantile(sorted: Float64Array, share: number): number {
  return Math.round(sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0);
}

function sumOf(values: Iterable<number>): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}

/** Counts what a request met when it was sent. */
export function tallyMet(tally: Tally, request: ReplayedRequest): void {
  const { rejectedWith, waitMs, fallbacks, costMicros } = request.met;
  const isServed = rejectedWith === null && request.serviceMs !== null;
  if (rejectedWith !== null) tally.rejected(request, rejectedWith, waitMs, null);
  else if (isServed) tally.served(request, waitMs);
  tally.fallback(request, fallbacks);
  // A request that was not sent has no price, and leaves nothing out either.
  if (isServed || costMicros !== 0) tally.cost(request, costMicros);
}
