import { amountOf, type UsedAmounts } from '../../domain/limits/metric.ts';
import { isSliding } from '../../domain/limits/period.ts';
import { windowStartMs } from '../calendar-window.ts';
import type { AdmissionAsk, DeskAnswer } from '../engine.ts';
import { chargesOf, type History, type Open } from './history.fixture.ts';

/** Asks both engines, initializes windows that they do not know, and records the answer. */
export async function admit(
  history: History,
  operationId: string,
  asked: AdmissionAsk,
  lateMs: number,
): Promise<void> {
  const before = history.open.get(operationId);
  const isRepeat = before?.state === 'dispatched' && asked.release === undefined;
  const ask = isRepeat ? asked : underCurrentLimits(history, asked);
  let answer = await history.both(`admit ${operationId}`, (engine) => engine.admit(ask));
  if (answer.kind === 'rebuild') {
    await initialize(history, ask.organizationId, answer.policyIds);
    answer = await history.both(`admit ${operationId} again`, (engine) => engine.admit(ask));
  }
  if (answer.kind === 'rebuild') throw new Error(`seed ${history.seed}: windows stay unknown`);
  const kind = answer.kind === 'refused' ? answer.reason : answer.kind;
  history.answers[kind] = (history.answers[kind] ?? 0) + 1;
  if (isRepeat) return;
  const sent = before?.state === 'dispatched' && ask.release?.dispatched === true;
  if (before?.state === 'dispatched')
    endInOracle(history, operationId, before, sent ? (ask.release ?? null) : null);
  const tried = sent || before?.tried === true;
  record(history, ask, answer, before, lateMs, tried);
  if (answer.kind === 'refused' && tried) await settleTried(history, ask);
}

/** A repeated ask uses the current limits, as a gateway with a newer snapshot does. */
function underCurrentLimits({ world }: History, ask: AdmissionAsk): AdmissionAsk {
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

/** As if the ledger knew of earlier usage. The oracle does not know it, so it can only overlook an excess. */
async function initialize(
  { world, random, nowMs, both }: History,
  organizationId: string,
  policyIds: readonly string[],
): Promise<void> {
  const openings = world.policies.flatMap((policy) => {
    const { period } = policy;
    if (!policyIds.includes(policy.id) || period === 'none' || isSliding(period)) return [];
    const amount = random.pick([0, 0, Math.floor(policy.limit / 4)]);
    return [{ policy, startMs: windowStartMs(period, nowMs), amount }];
  });
  await both('initialize', (engine) => engine.initialize(organizationId, openings));
}

function record(
  { open, oracle, nowMs }: History,
  ask: AdmissionAsk,
  answer: DeskAnswer,
  before: Open | undefined,
  lateMs: number,
  tried: boolean,
): void {
  const { organizationId, operationId } = ask;
  if (answer.kind === 'refused') {
    open.delete(operationId);
    return;
  }
  const { release: _release, ...kept } = ask;
  const slotMs = answer.kind === 'wait' ? nowMs + answer.waitMs : nowMs;
  const state = answer.kind === 'admitted' ? 'dispatched' : answer.kind === 'wait' ? 'waiting' : 'line';
  const promisedMs = state === 'dispatched' && before?.state === 'waiting' ? before.slotMs : slotMs;
  const entry: Open = { ask: kept, state, candidate: answer.candidate, slotMs: promisedMs, lateMs, tried };
  open.set(operationId, entry);
  if (state !== 'dispatched') return;
  for (const { policy, cost } of chargesOf(entry)) {
    oracle.dispatched(organizationId, policy, operationId, nowMs, Math.min(promisedMs, nowMs), cost);
  }
}

/** `null`: it used nothing. */
export function endInOracle(
  { oracle }: History,
  operationId: string,
  entry: Open,
  actual: UsedAmounts | null,
): void {
  const { organizationId } = entry.ask;
  for (const { policy } of chargesOf(entry)) {
    oracle.ended(organizationId, policy.id, operationId);
    const used = actual === null ? 0 : amountOf(policy.metric, actual);
    oracle.used(organizationId, policy.id, operationId, used);
  }
}

/** An operation that was sent and has no candidate left is settled too. */
export async function settleTried(
  { both }: History,
  { organizationId, operationId }: AdmissionAsk,
): Promise<void> {
  const actual = { dispatched: true, tokens: 1, spendMicros: 1 };
  await both(`settle ${operationId}`, (engine) =>
    engine.settle({ organizationId, operationId, actual, record: operationId }),
  );
}
