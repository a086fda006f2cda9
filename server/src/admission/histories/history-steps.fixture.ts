import { isSliding } from '../../domain/limits/period.ts';
import { windowStartMs } from '../calendar-window.ts';
import type { AdmissionAnswer, AdmissionAsk, PolicyUsage } from '../engine.ts';
import { NO_LIMIT } from '../memory/window.ts';
import { arrival, LEASE_MS, newAsk, thawsSometimes } from './client.fixture.ts';
import { type History, oracleOf, type Planned, perform } from './history.fixture.ts';
import { judgeRetryAfter, standstill } from './refusal-rules.fixture.ts';

/** A line that is moved later than this owes nothing for the time. */
const STOOD_STILL_MS = 90;
const KINDS = ['settle', 'void', 'admit', 'fall back'];

/** Something happens: mostly requests arrive, alone or in a burst. */
export async function happen(history: History): Promise<void> {
  const dice = history.random.integer(1, 100);
  if (dice <= 4) return changeLimit(history);
  if (dice <= 6) return penalize(history);
  if (dice <= 8) return extend(history);
  if (dice <= 11) {
    await compareUsage(history);
    await compareSlots(history);
    return;
  }
  if (dice <= 12) return restore(history);
  if (dice <= 13) return recount(history);
  if (dice <= 16) return askAgain(history);
  if (dice <= 20) return sweep(history);
  if (dice <= 25) return refuse(history);
  const count = history.random.pick([1, 1, 1, 2, 3, history.random.integer(1, 16)]);
  await arrive(
    history,
    Array.from({ length: count }, () => newAsk(history)),
  );
}

async function arrive(history: History, asks: readonly AdmissionAsk[]): Promise<void> {
  const answers = (await perform(
    history,
    asks.map((ask) => arrival(history, ask)),
  )) as AdmissionAnswer[];
  for (const [index, answer] of answers.entries()) {
    const ask = asks[index];
    if (ask === undefined) continue;
    if (answer.kind === 'rebuild') await startWindows(history, ask, answer.policyIds);
    // Of a burst, those who came later would not be alone.
    if (answer.kind === 'refused' && asks.length === 1) await judgeRetryAfter(history, ask, answer);
  }
}

/** As if the ledger knew of earlier usage. The oracle does not know it, so it can only overlook an excess. */
async function startWindows(
  history: History,
  ask: AdmissionAsk,
  policyIds: readonly string[],
): Promise<void> {
  const { world, nowMs, random } = history;
  const { organizationId } = ask;
  const openings = world.policies.flatMap((policy) => {
    const { period } = policy;
    if (!policyIds.includes(policy.id) || period === 'none' || isSliding(period)) return [];
    const amount = random.pick([0, 0, Math.min(40, Math.floor(policy.limit / 4))]);
    return [{ policy, startMs: windowStartMs(period, nowMs), amount }];
  });
  for (const { policy, amount } of openings)
    oracleOf(history, organizationId).usedBefore(policy.id, amount, nowMs);
  await perform(history, [
    {
      what: 'initialize',
      organizationId,
      run: (engine) => engine.initialize(organizationId, openings),
    },
  ]);
  await arrive(history, [ask]);
}

async function changeLimit(history: History): Promise<void> {
  const { random, world } = history;
  const index = random.integer(0, world.policies.length - 1);
  const policy = world.policies[index];
  if (policy === undefined) return;
  const half = Math.max(1, Math.floor(policy.limit / 2));
  const limit =
    policy.limit >= NO_LIMIT ? random.integer(1, 200) : random.pick([half, half, policy.limit * 2, NO_LIMIT]);
  world.policies = world.policies.with(index, { ...policy, limit });
  history.configVersion += 1;
  const { configVersion } = history;
  const isLowered = limit < policy.limit;
  for (const oracle of history.oracles.values()) oracle.limitChanged(policy.id, isLowered);
  // A request of a gateway that knows it already may come first.
  if (!isLowered && random.integer(0, 1) === 1) await arrive(history, [newAsk(history)]);
  const changes = [{ policyId: policy.id, limit: limit >= NO_LIMIT ? null : limit }];
  for (const organizationId of world.organizationIds) {
    const run: Planned['run'] = (engine) => engine.changeLimits(organizationId, configVersion, changes);
    await perform(history, [{ what: 'change limits', organizationId, run }]);
  }
}

async function penalize(history: History): Promise<void> {
  const { random, world, nowMs } = history;
  const organizationId = random.pick(world.organizationIds);
  const endpointId = `${random.pick(world.lanes).name}-e${random.integer(0, 1)}`;
  const forMs = random.integer(1, 5_000);
  oracleOf(history, organizationId).cooled(endpointId, nowMs + forMs);
  await perform(history, [
    { what: 'penalize', organizationId, run: (engine) => engine.penalize(organizationId, endpointId, forMs) },
  ]);
}

async function extend(history: History): Promise<void> {
  const organizationId = history.random.pick(history.world.organizationIds);
  const ids = [...history.clients.values()]
    .filter(({ ask, isDead }) => ask.organizationId === organizationId && !isDead)
    .map(({ ask }) => ask.operationId);
  await perform(history, [
    {
      what: 'extend',
      organizationId,
      run: (engine) => engine.extend(organizationId, [...ids, 'op-unknown'], LEASE_MS),
    },
  ]);
}

async function compareUsage(history: History): Promise<PolicyUsage[]> {
  const { random, world } = history;
  const organizationId = random.pick(world.organizationIds);
  const run: Planned['run'] = (engine) => engine.usage(organizationId, world.policies);
  const [usage] = await perform(history, [{ what: 'usage', organizationId, run }]);
  return usage as PolicyUsage[];
}

/** Both engines tell when each waiter can go, and telling it changes nothing. */
async function compareSlots(history: History): Promise<void> {
  for (const organizationId of history.world.organizationIds) {
    const ids = [...history.clients.values()]
      .filter(({ ask }) => ask.organizationId === organizationId)
      .map(({ ask }) => ask.operationId);
    const run: Planned['run'] = (engine) => engine.nextSlots(organizationId, [...ids, 'op-unknown']);
    await perform(history, [{ what: 'next slots', organizationId, run }]);
  }
}

/** A gateway whose leases were lost writes its operations in flight again; leases that exist stay as they are. */
async function restore(history: History): Promise<void> {
  const { clients, nowMs } = history;
  const known = [...clients.values()].find(({ state }) => state === 'dispatched');
  const lost = newAsk(history);
  for (const { ask, candidate } of [...(known === undefined ? [] : [known]), { ask: lost, candidate: 0 }]) {
    const { organizationId, operationId } = ask;
    const run: Planned['run'] = (engine) => engine.restore(ask, candidate, 100);
    const [isRestored] = await perform(history, [{ what: `restore ${operationId}`, organizationId, run }]);
    if (ask !== lost || isRestored !== true) continue;
    const oracle = oracleOf(history, organizationId);
    oracle.restored(lost, nowMs - 100);
    const actual = { dispatched: true, tokens: 1, spendMicros: 1 };
    await perform(history, [
      {
        what: `settle ${operationId}`,
        organizationId,
        run(engine) {
          if (engine === history.pair.reference.engine) {
            const candidate = lost.candidates[0];
            if (candidate !== undefined) oracle.ended(operationId, candidate, actual, nowMs);
          }
          return engine.settle({ organizationId, operationId, actual, record: operationId });
        },
      },
    ]);
  }
}

/** Windows are corrected by what the ledger has more, also with a mark that is no longer theirs. */
async function recount(history: History): Promise<void> {
  const { random, world, nowMs } = history;
  const organizationId = random.pick(world.organizationIds);
  const run: Planned['run'] = (engine) => engine.usage(organizationId, world.policies);
  const [usage] = (await perform(history, [{ what: 'usage', organizationId, run }])) as [PolicyUsage[]];
  const recounts = world.policies.flatMap((policy, index) => {
    const { period } = policy;
    const mark = usage[index]?.mark ?? null;
    if (mark === null || period === 'none' || isSliding(period)) return [];
    const isOurs = random.integer(1, 4) > 1;
    const amount = random.integer(0, 5);
    if (isOurs) oracleOf(history, organizationId).usedBefore(policy.id, amount, nowMs);
    return [{ policy, startMs: windowStartMs(period, nowMs), amount, mark: isOurs ? mark : mark - 1 }];
  });
  const again: Planned['run'] = (engine) => engine.recount(organizationId, recounts);
  // Each mark is good for one recount.
  for (const what of ['recount', 'recount again'])
    await perform(history, [{ what, organizationId, run: again }]);
}

/** A gateway that lost messages asks again for those who wait. */
async function askAgain(history: History): Promise<void> {
  const { clients, random } = history;
  if (clients.size === 0) return;
  const { ask } = random.pick([...clients.values()]);
  const run: Planned['run'] = (engine) => engine.admit(ask);
  await perform(history, [{ what: `ask again ${ask.operationId}`, organizationId: ask.organizationId, run }]);
}

/** A refused request leaves nothing behind. */
async function refuse(history: History): Promise<void> {
  const ask = newAsk(history);
  const { organizationId } = ask;
  await perform(history, [{ what: 'step', organizationId, run: (engine) => engine.step(organizationId) }]);
  const before = standstill(history, organizationId);
  const isRefused = () => (history.answers['wait_budget'] ?? 0) + (history.answers['exceeds_limit'] ?? 0);
  const [refusedBefore, rebuiltBefore] = [isRefused(), history.answers['rebuild']];
  await arrive(history, [ask]);
  // Windows that were rebuilt from the ledger for it stay.
  if (history.answers['rebuild'] !== rebuiltBefore) return;
  if (isRefused() > refusedBefore && standstill(history, organizationId) !== before)
    history.findings.violations.push(
      `seed ${history.seed}, writes: ${ask.operationId} was refused and left something`,
    );
}

/** Ends what died. */
export async function sweep(history: History): Promise<void> {
  await perform(history, [
    {
      what: 'sweep',
      organizationId: null,
      run(engine) {
        if (engine === history.pair.reference.engine) noteExpired(history);
        return engine.sweep();
      },
    },
  ]);
}

function noteExpired(history: History): void {
  const { clients, pair, nowMs } = history;
  for (const [operationId, { ask, state, candidate }] of clients) {
    const lease = pair.reference.engine.memory.leases.get(operationId);
    if (lease !== undefined && lease.expiresMs > nowMs) continue;
    const oracle = oracleOf(history, ask.organizationId);
    if (state === 'waiting') oracle.left(operationId, nowMs);
    else oracle.expired(operationId);
    clients.delete(operationId);
    if (state === 'dispatched') thawsSometimes(history, ask, candidate);
  }
}

/** Time passes: requests end, clients leave, and the line is moved when it asked for it, exactly then or late. */
export async function advance(history: History, targetMs: number): Promise<void> {
  const { events, random, pair } = history;
  while (history.findings.disagreements.length === 0) {
    const eventMs = events[0]?.atMs ?? Number.POSITIVE_INFINITY;
    const [organizationId, stepMs] = soonest(pair.reference.nextMs);
    if (Math.min(eventMs, stepMs) > targetMs) break;
    await lookBetween(history, Math.min(eventMs, stepMs));
    if (stepMs < eventMs) {
      const lateMs = random.integer(1, 400) === 1 ? random.integer(100, 2_000) : random.pick([0, 0, 0, 1, 3]);
      history.nowMs = Math.max(history.nowMs, stepMs + lateMs);
      // The time is the same for every organization.
      if (lateMs > STOOD_STILL_MS) for (const oracle of history.oracles.values()) oracle.stoodStill();
      await perform(history, [
        { what: 'step', organizationId, run: (engine) => engine.step(organizationId) },
      ]);
      continue;
    }
    const untilMs = Math.min(eventMs + random.pick([0, 0, 5]), stepMs, targetMs);
    history.nowMs = Math.max(history.nowMs, untilMs);
    const planned: Planned[] = [];
    for (let event = events[0]; event !== undefined && event.atMs <= untilMs; event = events[0]) {
      events.shift();
      const call = event.run();
      if (call !== null) planned.push(call);
    }
    const kindOf = ({ what }: Planned) => KINDS.findIndex((kind) => what.startsWith(kind));
    planned.sort((a, b) => kindOf(a) - kindOf(b));
    if (planned.length > 0) await perform(history, planned);
  }
  history.nowMs = Math.max(history.nowMs, targetMs);
}

function soonest(nextMs: ReadonlyMap<string, number>): [string, number] {
  let best: [string, number] = ['', Number.POSITIVE_INFINITY];
  for (const each of nextMs) if (each[1] < best[1]) best = each;
  return best;
}

/** A look while nothing happens. */
async function lookBetween(history: History, nextMs: number): Promise<void> {
  const gapMs = nextMs - history.nowMs;
  if (gapMs < 40) return;
  history.nowMs += history.random.integer(1, Math.floor(gapMs) - 1);
  for (const oracle of history.oracles.values()) oracle.look(history.nowMs);
}
