import { METRICS } from '../../domain/limits/metric.ts';
import type { Actual, AdmissionAnswer, AdmissionAsk, CandidateAsk, Release } from '../engine.ts';
import { type Client, type History, oracleOf, type Planned, schedule } from './history.fixture.ts';
import { candidatesOf } from './random-history.fixture.ts';

export const LEASE_MS = 20_000;
const LONG_LEASE_MS = 3_600_000;
/** A dispatch reaches its provider within the shortest bucket. */
const REACHED_WITHIN_MS = 49;

export function newAsk(history: History): AdmissionAsk {
  const { random, world, configVersion } = history;
  const lane = random.pick(world.lanes);
  const caller = random.pick(world.callers);
  const candidates = candidatesOf(random, world, lane);
  history.serial += 1;
  const operationId = `op-${String(history.serial).padStart(7, '0')}`;
  return {
    organizationId: random.pick(world.organizationIds),
    operationId,
    queue: `${lane.name}:${caller}`,
    waitersMax: lane.waitersMax,
    caller,
    priority: lane.priority,
    mixedClasses: world.mixedClasses,
    configVersion,
    // Some have no charges, as requests without limits do.
    candidates: !world.isPlain && random.integer(1, 20) === 1 ? uncharged(candidates) : candidates,
    selection: lane.selection,
    waitMsMax: random.pick(world.budgetsMs),
    leaseMs: random.integer(1, 25) === 1 ? LEASE_MS : LONG_LEASE_MS,
    draft: operationId,
  };
}

function uncharged(candidates: readonly CandidateAsk[]): CandidateAsk[] {
  return candidates.map((candidate) => ({ ...candidate, charges: [] }));
}

/** A client asks; what follows from the answer happens by itself. */
export function arrival(history: History, ask: AdmissionAsk, tried = false): Planned<AdmissionAnswer> {
  const { organizationId, operationId } = ask;
  return {
    what: `admit ${operationId}`,
    organizationId,
    run: (engine) => engine.admit(ask),
    answered(answer) {
      const { answers, clients, nowMs } = history;
      const kind = answer.kind === 'refused' ? answer.reason : answer.kind;
      answers[kind] = (answers[kind] ?? 0) + 1;
      if (answer.kind === 'rebuild') return;
      const { release: _release, ...kept } = ask;
      const client: Client = {
        ask: kept,
        state: 'waiting',
        candidate: 0,
        tried,
        isDead: ask.leaseMs === LEASE_MS,
      };
      if (answer.kind === 'refused') {
        clients.delete(operationId);
        if (tried) settleTried(history, client);
        return;
      }
      clients.set(operationId, client);
      oracleOf(history, organizationId).answered(ask, answer, nowMs);
      if (answer.kind === 'admitted') dispatched(history, client, answer.candidate);
      else leavesSometimes(history, client);
    },
  };
}

/** The engine has let a waiter go, or refused it at its deadline. */
export function heard(history: History, operationId: string, release: Release): void {
  const { clients, nowMs, answers } = history;
  const client = clients.get(operationId);
  const { organizationId } = client?.ask ?? { organizationId: history.world.organizationIds[0] ?? '' };
  oracleOf(history, organizationId).released(operationId, release, nowMs);
  answers[`released ${release.kind}`] = (answers[`released ${release.kind}`] ?? 0) + 1;
  if (client === undefined) return;
  if (release.kind === 'admitted') dispatched(history, client, release.candidate);
  else {
    clients.delete(operationId);
    if (client.tried) settleTried(history, client);
  }
}

function leavesSometimes(history: History, client: Client): void {
  const { random, nowMs, clients } = history;
  if (client.isDead || random.integer(1, 5) > 2) return;
  const { organizationId, operationId } = client.ask;
  schedule(history, nowMs + random.integer(50, 10_000), () => {
    if (clients.get(operationId) !== client || client.state !== 'waiting') return null;
    return voiding(history, client, organizationId, operationId);
  });
}

function voiding(history: History, client: Client, organizationId: string, operationId: string): Planned {
  return {
    what: `void ${operationId}`,
    organizationId,
    run(engine) {
      if (engine === history.pair.reference.engine) {
        const candidate = client.ask.candidates[client.candidate];
        const oracle = oracleOf(history, organizationId);
        history.clients.delete(operationId);
        // It may have been let go in the meantime; then it was never sent.
        if (client.state === 'dispatched' && candidate !== undefined)
          oracle.ended(operationId, candidate, null, history.nowMs);
        else oracle.left(operationId, history.nowMs);
        if (client.tried) settleTried(history, client);
      }
      return engine.void(organizationId, operationId);
    },
  };
}

function dispatched(history: History, client: Client, index: number): void {
  const { random, nowMs, clients } = history;
  const { organizationId, operationId, candidates } = client.ask;
  const candidate = candidates[index];
  if (candidate === undefined) throw new RangeError(`no candidate ${index}`);
  client.state = 'dispatched';
  client.candidate = index;
  const oracle = oracleOf(history, organizationId);
  const reachedMs = nowMs + random.integer(0, REACHED_WITHIN_MS);
  schedule(history, reachedMs, () => {
    oracle.reached(operationId, candidate, reachedMs);
    return null;
  });
  if (client.isDead) return;
  schedule(history, nowMs + REACHED_WITHIN_MS + random.integer(1, random.pick([300, 6_000])), () => {
    if (clients.get(operationId) !== client) return null;
    if (random.integer(1, 12) === 1) return fallback(history, client, candidate);
    return settlement(history, client, candidate);
  });
}

function settlement(history: History, client: Client, candidate: CandidateAsk): Planned {
  const { organizationId, operationId } = client.ask;
  const actual = randomActual(history, candidate);
  const record = operationId;
  return {
    what: `settle ${operationId}`,
    organizationId,
    run(engine) {
      if (engine === history.pair.reference.engine) {
        history.clients.delete(operationId);
        ended(history, client, candidate, actual);
      }
      return engine.settle({ organizationId, operationId, actual, earlier: earlierThan(client.ask), record });
    },
  };
}

/** The gateway of a request whose lease ran out was only frozen: it settles late, after its heartbeat or before. */
export function thawsSometimes(history: History, ask: AdmissionAsk, index: number): void {
  const { random, nowMs } = history;
  const candidate = ask.candidates[index];
  if (candidate === undefined || random.integer(1, 4) === 1) return;
  const { organizationId, operationId } = ask;
  const actual = randomActual(history, candidate);
  const atMs = nowMs + random.pick([1, 400, random.integer(1, 90_000)]);
  const client: Client = { ask, state: 'dispatched', candidate: index, tried: false, isDead: false };
  if (random.integer(1, 3) === 1)
    schedule(history, atMs, () => ({
      what: `restore ${operationId}`,
      organizationId,
      run(engine) {
        if (engine === history.pair.reference.engine) oracleOf(history, organizationId).excuse('restored');
        return engine.restore(ask, index, 25_000);
      },
    }));
  schedule(history, atMs + random.integer(0, 60), () => ({
    what: `settle ${operationId}`,
    organizationId,
    run(engine) {
      if (engine === history.pair.reference.engine) ended(history, client, candidate, actual);
      const earlier = earlierThan(ask);
      return engine.settle({ organizationId, operationId, actual, earlier, record: operationId });
    },
  }));
}

/** What attempts before this one used. The engine has counted it already. */
function earlierThan({ attempt = 0 }: AdmissionAsk): Actual[] {
  return Array.from({ length: attempt }, () => ({ dispatched: true, tokens: 1, spendMicros: 1 }));
}

function ended({ oracles, nowMs }: History, { ask }: Client, candidate: CandidateAsk, actual: Actual): void {
  oracles
    .get(ask.organizationId)
    ?.ended(ask.operationId, candidate, actual.dispatched ? actual : null, nowMs);
}

/** The attempt failed and another is asked for. Some gateways die then, and the sweep has to end the operation. */
function fallback(history: History, client: Client, candidate: CandidateAsk): Planned {
  const release = randomActual(history, candidate);
  const leaseMs = history.random.integer(1, 4) === 1 ? LEASE_MS : client.ask.leaseMs;
  const attempt = (client.ask.attempt ?? 0) + (release.dispatched ? 1 : 0);
  const ask = { ...underCurrentLimits(history, client.ask), release, attempt, leaseMs };
  const planned = arrival(history, ask, client.tried || release.dispatched);
  return {
    ...planned,
    what: `fall back ${client.ask.operationId}`,
    run(engine) {
      if (engine === history.pair.reference.engine) ended(history, client, candidate, release);
      return planned.run(engine);
    },
  };
}

/** As a gateway with a newer snapshot asks. */
function underCurrentLimits({ world, configVersion }: History, ask: AdmissionAsk): AdmissionAsk {
  const current = new Map(world.policies.map((policy) => [policy.id, policy]));
  const candidates = ask.candidates.map((candidate) => ({
    ...candidate,
    charges: candidate.charges.map(({ policy, cost }) => ({
      policy: current.get(policy.id) ?? policy,
      cost,
    })),
  }));
  return { ...ask, candidates, configVersion };
}

function randomActual({ random }: History, { charges }: CandidateAsk): Actual {
  const share = random.pick([0, 0.3, 0.7, 1, 1, 1, random.integer(1, 10) === 1 ? 1.5 : 1]);
  const costOf = (quantity: 'tokens' | 'spend') =>
    charges.find(({ policy }) => METRICS[policy.metric].quantity === quantity)?.cost || 10;
  return {
    dispatched: random.integer(1, 12) > 1,
    tokens: Math.floor(costOf('tokens') * share),
    spendMicros: Math.floor(costOf('spend') * share),
  };
}

/** An operation that was sent and has no candidate left is settled too. */
function settleTried(history: History, client: Client): void {
  const { organizationId, operationId } = client.ask;
  const actual = { dispatched: true, tokens: 1, spendMicros: 1 };
  client.state = 'tried';
  if (client.isDead) return;
  schedule(history, history.nowMs, () => ({
    what: `settle ${operationId}`,
    organizationId,
    run: (engine) => engine.settle({ organizationId, operationId, actual, record: operationId }),
  }));
}
