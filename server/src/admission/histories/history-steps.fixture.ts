import { METRICS } from '../../domain/limits/metric.ts';
import { isSliding } from '../../domain/limits/period.ts';
import { windowStartMs } from '../calendar-window.ts';
import type { Actual } from '../engine.ts';
import { chargesOf, type History, LEASE_MS, newAsk, type Open } from './history.fixture.ts';
import { admit, endInOracle, settleTried } from './history-admit.fixture.ts';
import { randomPolicy } from './random-history.fixture.ts';

/** A gateway that confirms this late must not push any real interval over the limit. */
const LATE_MS_MAX = 45;
const OPERATIONS_OPEN_MAX = 60;

/** One random event. */
export async function step(history: History): Promise<void> {
  const { random, open } = history;
  const dice = random.integer(1, 100);
  const some = open.size === 0 ? undefined : random.pick([...open]);
  if (dice <= 40 && open.size < OPERATIONS_OPEN_MAX) return arrive(history);
  if (dice <= 62 && some !== undefined) return end(history, ...some);
  if (dice <= 70 && some !== undefined) return admit(history, some[0], some[1].ask, some[1].lateMs);
  if (dice <= 76 && some?.[1].state === 'dispatched') return fallBack(history, ...some);
  if (dice <= 78) return changeLimit(history);
  if (dice <= 81) return penalize(history);
  if (dice <= 84) return extend(history);
  if (dice <= 86) return compareUsage(history);
  if (dice <= 87) return restore(history);
  if (dice <= 89) return recount(history);
  return advance(history);
}

async function arrive(history: History): Promise<void> {
  const operationId = history.newOperationId();
  const lateMs = history.random.integer(0, LATE_MS_MAX);
  await admit(history, operationId, newAsk(history, operationId), lateMs);
}

export async function end(history: History, operationId: string, entry: Open): Promise<void> {
  const { random, open, both } = history;
  const { organizationId } = entry.ask;
  open.delete(operationId);
  if (entry.state !== 'dispatched' || random.integer(1, 10) === 1) {
    if (entry.state === 'dispatched') endInOracle(history, operationId, entry, null);
    await both(`void ${operationId}`, (engine) => engine.void(organizationId, operationId));
    if (entry.tried) await settleTried(history, entry.ask);
    return;
  }
  const actual = randomActual(history, entry);
  endInOracle(history, operationId, entry, actual.dispatched ? actual : null);
  await both(`settle ${operationId}`, (engine) =>
    engine.settle({ organizationId, operationId, actual, record: operationId }),
  );
}

function randomActual({ random }: History, entry: Open): Actual {
  const share = random.pick([0, 0.3, 1, 1, 1.5]);
  const charges = chargesOf(entry);
  const costOf = (quantity: 'tokens' | 'spend') =>
    charges.find(({ policy }) => METRICS[policy.metric].quantity === quantity)?.cost ?? 10;
  return {
    dispatched: random.integer(1, 8) > 1,
    tokens: Math.floor(costOf('tokens') * share),
    spendMicros: Math.floor(costOf('spend') * share),
  };
}

/** An attempt failed and another is asked for. Some gateways die then, and the sweep has to end the operation. */
async function fallBack(history: History, operationId: string, entry: Open): Promise<void> {
  const { random, open, oracle } = history;
  const dies = random.integer(1, 3) === 1;
  const ask = dies ? { ...entry.ask, leaseMs: LEASE_MS } : entry.ask;
  await admit(history, operationId, { ...ask, release: randomActual(history, entry) }, entry.lateMs);
  const left = dies ? open.get(operationId) : undefined;
  if (left === undefined) return;
  open.delete(operationId);
  for (const { policy } of chargesOf(left)) oracle.ended(left.ask.organizationId, policy.id, operationId);
}

function changeLimit({ random, world, oracle }: History): void {
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

async function penalize({ random, world, both }: History): Promise<void> {
  const organizationId = random.pick(world.organizationIds);
  const endpointId = random.pick(world.endpoints);
  const forMs = random.integer(1, 5_000);
  await both('penalize', (engine) => engine.penalize(organizationId, endpointId, forMs));
}

async function extend(history: History): Promise<void> {
  const { random, world, both } = history;
  const organizationId = random.pick(world.organizationIds);
  const ids = [...openOf(history, organizationId), 'op-unknown'];
  await both('extend', (engine) => engine.extend(organizationId, ids, LEASE_MS));
}

function openOf({ open }: History, organizationId: string): string[] {
  return [...open].filter(([, { ask }]) => ask.organizationId === organizationId).map(([id]) => id);
}

/** A gateway whose leases were lost writes its operations in flight again; leases that exist stay as they are. */
async function restore(history: History): Promise<void> {
  const { open, both, oracle } = history;
  const dispatched = [...open].filter(([, entry]) => entry.state === 'dispatched');
  for (const [id, { ask, candidate }] of dispatched.slice(0, 3)) {
    await both(`restore ${id}`, (engine) => engine.restore(ask, candidate, 100));
  }
  const lost = newAsk(history, history.newOperationId());
  const restored = await both('restore', (engine) => engine.restore(lost, 0, 100));
  if (!restored) return;
  const { organizationId, operationId } = lost;
  for (const { policy } of chargesOf({ ask: lost, candidate: 0 })) oracle.forget(organizationId, policy.id);
  const actual = { dispatched: true, tokens: 1, spendMicros: 1 };
  await both('settle restored', (engine) =>
    engine.settle({ organizationId, operationId, actual, record: 'restored' }),
  );
}

async function compareUsage({ random, world, both }: History): Promise<void> {
  const organizationId = random.pick(world.organizationIds);
  await both('usage', (engine) => engine.usage(organizationId, world.policies));
}

/**
 * Windows are corrected by what the ledger has more, also with a mark that is no longer theirs. Only upward: a correction
 * downward is for idle organizations, and would give the capacity of open operations to others.
 */
async function recount({ random, world, both, nowMs }: History): Promise<void> {
  const organizationId = random.pick(world.organizationIds);
  const usage = await both('usage', (engine) => engine.usage(organizationId, world.policies));
  const recounts = world.policies.flatMap((policy, index) => {
    const { period } = policy;
    const mark = usage[index]?.mark ?? null;
    if (mark === null || period === 'none' || isSliding(period)) return [];
    const startMs = windowStartMs(period, nowMs);
    const amount = random.integer(0, 50);
    return [{ policy, startMs, amount, mark: random.integer(1, 4) === 1 ? mark - 1 : mark }];
  });
  await both('recount', (engine) => engine.recount(organizationId, recounts));
  // Each mark is good for one recount.
  await both('recount again', (engine) => engine.recount(organizationId, recounts));
  await both('usage', (engine) => engine.usage(organizationId, world.policies));
}

/** Time passes; waiters are confirmed in the order of their slots, a little late. */
async function advance(history: History): Promise<void> {
  const targetMs = history.nowMs + history.random.pick([1, 7, 40, 300, 900, 4_000, 30_000]);
  for (;;) {
    const due = [...history.open].filter(
      ([, { state, slotMs, lateMs }]) => state === 'waiting' && slotMs + lateMs <= targetMs,
    );
    due.sort(([, a], [, b]) => a.slotMs + a.lateMs - (b.slotMs + b.lateMs));
    const first = due[0];
    if (first === undefined) break;
    history.nowMs = Math.max(history.nowMs, first[1].slotMs + first[1].lateMs);
    await admit(history, first[0], first[1].ask, 0);
  }
  history.nowMs = Math.max(history.nowMs, targetMs);
  await sweep(history);
}

/** Sweeps both engines, then learns from `extend` which operations the sweep ended. */
export async function sweep(history: History): Promise<void> {
  const { world, open, oracle, both } = history;
  await both('sweep', (engine) => engine.sweep());
  for (const organizationId of world.organizationIds) {
    const ids = openOf(history, organizationId);
    const gone = await both('extend', (engine) => engine.extend(organizationId, ids, 1));
    for (const id of gone) {
      const entry = open.get(id);
      for (const { policy } of entry === undefined ? [] : chargesOf(entry))
        oracle.ended(organizationId, policy.id, id);
      open.delete(id);
    }
  }
}
