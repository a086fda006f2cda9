import assert from 'node:assert/strict';
import type { AppliedLimit, Charge } from '../domain/limits/limit.ts';
import { EVERY_REQUEST } from '../domain/limits/limits.fixture.ts';
import { amountOf, METRICS } from '../domain/limits/metric.ts';
import { type CalendarPeriod, isSliding } from '../domain/limits/period.ts';
import { askOf, type Bench, newOrganization, type StartBench } from './both-engines.fixture.ts';
import { windowStartMs } from './calendar-window.ts';
import type { Actual, AdmissionAnswer, AdmissionAsk, CandidateAsk, Opening, SettleAsk } from './engine.ts';
import {
  type EarlierAttempt,
  type LiveOperation,
  type LiveOperations,
  remember,
  usesOf,
} from './live-operations.ts';
import { createRebuildWindows } from './rebuild-windows.ts';
import { restoreEarlier, restoreOperation } from './restore-operation.ts';

export type Action =
  | {
      readonly kind: 'arrive';
      readonly tokens: number;
      readonly spendMicros: number;
      readonly waits: boolean;
      readonly first: number;
      readonly both: boolean;
    }
  | ({ readonly kind: 'fall back' | 'settle'; readonly which: number } & Ending)
  | { readonly kind: 'leave'; readonly which: number }
  | { readonly kind: 'pass'; readonly ms: number };

interface Ending {
  readonly isSent: boolean;
  readonly tokens: number;
  readonly spendMicros: number;
  /** True if the ledger has the operation's row before the store is lost. */
  readonly isPosted: boolean;
}

/** The history is over before the minute is: what a short window counts, and when, is another test's. */
const START_MS = Date.UTC(2027, 0, 31, 23, 59, 57);
const ENDPOINTS = ['e0', 'e1', 'e2'];
const PERIODS = ['minute', 'hour', 'day', 'month'] as const;

const limit = (id: string, over: Pick<AppliedLimit, 'metric' | 'period' | 'limit'>): AppliedLimit => ({
  id,
  counts: EVERY_REQUEST,
  ...over,
});
/** Some of them refuse requests and let them wait. */
const OF_ALL = [
  ...PERIODS.map((period) => limit(`tokens ${period}`, { metric: 'tokens', period, limit: 2_000 })),
  ...PERIODS.map((period) => limit(`spend ${period}`, { metric: 'spend', period, limit: 3_000 })),
  limit('requests', { metric: 'requests', period: 'month', limit: 1_000 }),
];
const ofEndpoint = (endpointId: string): AppliedLimit[] => [
  limit(`${endpointId} requests`, { metric: 'requests', period: 'minute', limit: 12 }),
  limit(`${endpointId} tokens`, { metric: 'tokens', period: 'day', limit: 600 }),
  limit(`${endpointId} spend`, { metric: 'spend', period: 'minute', limit: 900 }),
  limit(`${endpointId} units`, { metric: 'concurrency', period: 'none', limit: 4 }),
];
const LIMITS = [...ENDPOINTS.flatMap(ofEndpoint), ...OF_ALL];

interface Settled {
  readonly settlement: SettleAsk;
  readonly operation: LiveOperation;
  readonly isPosted: boolean;
}

interface History {
  bench: Bench;
  readonly organizationId: string;
  readonly live: LiveOperations;
  readonly settled: Settled[];
  count: number;
}

/** Runs a history, loses the store, writes again what the ledger and the process have, and compares every limit. */
export async function runThenLose(
  start: StartBench,
  flush: () => Promise<unknown>,
  actions: readonly Action[],
): Promise<void> {
  const history: History = {
    bench: start(),
    organizationId: newOrganization(),
    live: new Map(),
    settled: [],
    count: 0,
  };
  history.bench.nowMs = START_MS;
  await rebuildAll(history);
  for (const action of actions) {
    await act(history, action);
    await hear(history);
  }
  const before = await usedBy(history);
  const { nowMs } = history.bench;
  await flush();
  history.bench = start();
  history.bench.nowMs = nowMs;
  await writeAgain(history);
  assert.deepEqual(await usedBy(history), before);
}

async function act(history: History, action: Action): Promise<void> {
  const { bench, organizationId, live } = history;
  if (action.kind === 'arrive') {
    const { first, both, waits } = action;
    history.count += 1;
    const endpoints = both ? [first, (first + 1) % ENDPOINTS.length] : [first];
    const candidates = endpoints.map((index) => candidateOf(index, action));
    await ask(
      history,
      askOf(organizationId, `${history.count}`, { candidates, waitMsMax: waits ? 20_000 : 0 }),
    );
    return;
  }
  if (action.kind === 'pass') {
    bench.nowMs += action.ms;
    await bench.engine.step(organizationId);
    return;
  }
  const operations = [...live.values()];
  const found = operations[action.which % Math.max(1, operations.length)];
  if (found === undefined) return;
  if (action.kind === 'leave') return leave(history, found);
  const used = { dispatched: action.isSent, tokens: action.tokens, spendMicros: action.spendMicros };
  if (action.kind === 'settle') return settle(history, found, used, action.isPosted);
  if (found.state !== 'dispatched' || found.isGivenUp === true) return;
  const attempt = found.earlier.length + (used.dispatched ? 1 : 0);
  const candidates = [candidateOf(action.which % ENDPOINTS.length, { tokens: 40, spendMicros: 0 })];
  await ask(history, { ...found.ask, candidates, release: used, attempt });
}

function candidateOf(index: number, amounts: { tokens: number; spendMicros: number }): CandidateAsk {
  const endpointId = ENDPOINTS[index] ?? assert.fail();
  const charges = [...ofEndpoint(endpointId), ...OF_ALL].map((policy): Charge => {
    return { policy, cost: amountOf(policy.metric, amounts) };
  });
  return { endpointId, paced: false, charges };
}

async function ask(history: History, asked: AdmissionAsk): Promise<void> {
  const { bench, live } = history;
  const before = live.get(asked.operationId);
  let answer: AdmissionAnswer = await bench.engine.admit(asked);
  for (; answer.kind === 'rebuild'; answer = await bench.engine.admit(asked)) await rebuildAll(history);
  remember(live, asked, answer, bench.nowMs);
  // As the desk does for one that was not sent.
  if (answer.kind === 'refused' && before !== undefined && !live.has(asked.operationId)) {
    const settlement = { organizationId: asked.organizationId, operationId: asked.operationId, record: 'r' };
    const actual = { dispatched: false, tokens: 0, spendMicros: 0 };
    await bench.engine.settle({ ...settlement, actual });
  }
}

/** Applies the outcomes of waiters: the engine admits or rejects them. */
async function hear({ bench, live }: History): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  for (const [operationId, release] of bench.released) {
    const found = live.get(operationId);
    if (found?.state === 'waiting') remember(live, found.ask, release, bench.nowMs);
  }
  bench.released.clear();
}

async function leave(history: History, found: LiveOperation): Promise<void> {
  if (found.state !== 'waiting') return;
  const { bench, live } = history;
  found.isGivenUp = true;
  await bench.engine.void(found.ask.organizationId, found.ask.operationId);
  if (found.earlier.length === 0) live.delete(found.ask.operationId);
}

async function settle(
  { bench, live, settled }: History,
  found: LiveOperation,
  used: Actual,
  isPosted: boolean,
): Promise<void> {
  if (found.state === 'waiting' && found.isGivenUp !== true) return;
  const { organizationId, operationId } = found.ask;
  live.delete(operationId);
  const settlement = { organizationId, operationId, ...usesOf(found, used), record: 'r' };
  await bench.engine.settle(settlement);
  settled.push({ settlement, operation: found, isPosted });
}

async function usedBy({ bench, organizationId }: History): Promise<Record<string, number>> {
  const usage = await bench.engine.usage(organizationId, LIMITS);
  return Object.fromEntries(usage.map(({ policyId, used }) => [policyId, used]));
}

async function rebuildAll(history: History): Promise<void> {
  const charges = LIMITS.map((policy) => ({ policy, cost: 0 }));
  await restoring(history).rebuild({ organizationId: history.organizationId, candidates: [{ charges }] });
}

function restoring(history: History) {
  const { engine } = history.bench;
  const { rebuild } = createRebuildWindows({ engine, openings: async () => openingsOf(history) });
  const nowMs = () => history.bench.nowMs;
  return { engine, rebuild, clock: { nowMs, monotonicMs: nowMs } };
}

/** As a report of a lost shard does; each answer may be lost, so that it is written once more. */
async function writeAgain(history: History): Promise<void> {
  const deps = restoring(history);
  await rebuildAll(history);
  for (const operation of history.live.values()) {
    for (let turn = 0; turn < 2; turn += 1) {
      await restoreEarlier(deps, operation);
      if (operation.state === 'dispatched') await restoreOperation(deps, operation);
    }
  }
  for (const { settlement, operation, isPosted } of history.settled) {
    if (isPosted) continue;
    for (let turn = 0; turn < 2; turn += 1) await restoreEarlier(deps, operation);
    if (operation.state === 'dispatched') await restoreOperation(deps, operation);
    await deps.engine.settle(settlement);
  }
}

/** The one rule: every sent attempt counts where and when it was dispatched, with what it used. */
function openingsOf({ bench, settled }: History): Opening[] {
  const attempts = settled.filter(({ isPosted }) => isPosted).flatMap(sentAttempts);
  return LIMITS.flatMap((policy): Opening[] => {
    const { metric, period } = policy;
    if (METRICS[metric].held) return [];
    const uses = attempts.flatMap(({ used, charges, dispatchedMs: startMs }) =>
      charges.some((charge) => charge.policy.id === policy.id)
        ? [{ policy, startMs, amount: amountOf(metric, used) }]
        : [],
    );
    if (isSliding(period)) return [{ policy, startMs: bench.nowMs, amount: 0 }, ...uses];
    const windowMs = windowStartMs(period as CalendarPeriod, bench.nowMs);
    const inWindow = uses.filter(({ startMs }) => startMs >= windowMs);
    return [{ policy, startMs: windowMs, amount: inWindow.reduce((sum, { amount }) => sum + amount, 0) }];
  });
}

function sentAttempts({ settlement, operation }: Settled): Omit<EarlierAttempt, 'knownMs'>[] {
  const { ask: asked, candidate, dispatchedMs, earlier, isGivenUp } = operation;
  const { actual: used } = settlement;
  if (isGivenUp === true || !used.dispatched) return [...earlier];
  return [...earlier, { used, charges: asked.candidates[candidate]?.charges ?? [], dispatchedMs }];
}
