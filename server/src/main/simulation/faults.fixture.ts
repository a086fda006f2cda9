import type { Deployment } from './deployment.fixture.ts';
import { startGateway } from './gateway.fixture.ts';
import type { Link } from './network.fixture.ts';
import { thawServer } from './network.fixture.ts';
import { SLOW_LINK, SLOW_MS_MAX } from './seen.fixture.ts';
import type { SimProcess } from './virtual-time.fixture.ts';
import { startWorker } from './worker.fixture.ts';

/** A fault begins at a random moment of the active time, and ends after a while. */
interface FaultKind {
  readonly name: string;
  readonly msMin: number;
  readonly msMax: number;
  /** Returns what ends it. */
  begin(deployment: Deployment, durationMs: number): () => void;
}

const MACHINE_FAULTS: readonly FaultKind[] = [
  { name: 'kill a gateway', msMin: 100, msMax: 8_000, begin: (d) => killGateway(d) },
  { name: 'kill a worker', msMin: 100, msMax: 8_000, begin: (d) => killWorker(d) },
  { name: 'freeze a gateway', msMin: 100, msMax: 3_000, begin: (d) => freeze(d, aGateway(d).process) },
  {
    name: 'freeze a gateway for long',
    msMin: 18_000,
    msMax: 40_000,
    begin: (d) => freeze(d, aGateway(d).process),
  },
  { name: 'freeze a worker', msMin: 1_000, msMax: 40_000, begin: (d) => freeze(d, aWorker(d).process) },
];

const NETWORK_FAULTS: readonly FaultKind[] = [
  { name: 'cut to the store', msMin: 100, msMax: 4_000, begin: (d) => cut(d, 'cutToServer') },
  { name: 'cut from the store', msMin: 100, msMax: 4_000, begin: (d) => cut(d, 'cutToProcess') },
  { name: 'cut both ways for long', msMin: 18_000, msMax: 40_000, begin: (d) => cutBoth(d) },
  { name: SLOW_LINK, msMin: 500, msMax: 10_000, begin: (d) => slow(d) },
];

const STORE_FAULTS: readonly FaultKind[] = [
  { name: 'freeze the store', msMin: 50, msMax: 3_000, begin: (d) => freezeStore(d) },
  { name: 'restart the store', msMin: 50, msMax: 3_000, begin: (d) => restartStore(d, 0) },
  { name: 'a gateway dies while the store is down', msMin: 500, msMax: 4_000, begin: dieWithoutStore },
  {
    name: 'errors of the store',
    msMin: 200,
    msMax: 5_000,
    begin: (d) => errors(d, 'failsBefore', d.store.server),
  },
  {
    name: 'lost answers of the store',
    msMin: 200,
    msMax: 5_000,
    begin: (d) => errors(d, 'losesAnswers', d.store.server),
  },
  {
    name: 'errors of the ledger',
    msMin: 500,
    msMax: 15_000,
    begin: (d) => errors(d, 'failsBefore', d.ledger.server),
  },
  {
    name: 'lost answers of the ledger',
    msMin: 500,
    msMax: 15_000,
    begin: (d) => errors(d, 'losesAnswers', d.ledger.server),
  },
  { name: 'the ledger is down', msMin: 500, msMax: 15_000, begin: (d) => ledgerDown(d) },
];

const LOSSES: readonly FaultKind[] = [
  {
    name: 'the store forgets its last moments',
    msMin: 50,
    msMax: 2_000,
    begin: (d, ms) => restartStore(d, d.random.integer(1, Math.ceil(ms / 2))),
  },
  { name: 'the store comes back empty', msMin: 50, msMax: 2_000, begin: (d) => restartStore(d, null) },
  { name: 'the store is flushed', msMin: 1, msMax: 1, begin: (d) => flushStore(d) },
];

const FAULTS_MAX = 4;

/** Draws the faults of a run and schedules them. Returns after how long the last is over. */
export function planFaults(deployment: Deployment): number {
  const { random, time, world, judge } = deployment;
  const kinds = [...MACHINE_FAULTS, ...MACHINE_FAULTS, ...NETWORK_FAULTS, ...STORE_FAULTS];
  const plan = Array.from({ length: random.integer(0, FAULTS_MAX) }, () => random.pick(kinds));
  if (random.integer(1, 4) === 1) plan.push(random.pick(LOSSES));
  let overMs = 0;
  for (const kind of plan) {
    const beginMs = random.integer(1_000, world.activeMs);
    const durationMs = random.integer(kind.msMin, kind.msMax);
    time.after(beginMs, null, `fault: ${kind.name} for ${durationMs} ms`, () => {
      const end = kind.begin(deployment, durationMs);
      judge.fault(kind.name, time.nowMs(), time.nowMs() + durationMs);
      time.after(durationMs, null, `over: ${kind.name}`, end);
    });
    overMs = Math.max(overMs, beginMs + durationMs);
  }
  return overMs;
}

function aGateway({ random, gateways }: Deployment) {
  return random.pick([...gateways.values()]);
}

function aWorker({ random, workers }: Deployment) {
  return random.pick([...workers.values()]);
}

function killGateway(deployment: Deployment): () => void {
  const { time, gateways, provider, random, judge } = deployment;
  const machine = random.pick([...gateways.keys()]);
  const gateway = gateways.get(machine);
  if (gateway === undefined || gateway.process.state === 'dead') return () => undefined;
  time.kill(gateway.process);
  provider.dropped(gateway.process);
  for (const { by, connection } of judge.seen().arrivals.values())
    if (by === gateway.process) connection.reset();
  return () => {
    // Another fault may have replaced it.
    if (gateways.get(machine) !== gateway) return;
    gateways.set(machine, startGateway(deployment, machine, `${gateway.process.name}'`));
  };
}

function killWorker(deployment: Deployment): () => void {
  const { time, workers, random } = deployment;
  const machine = random.pick([...workers.keys()]);
  const worker = workers.get(machine);
  if (worker === undefined || worker.process.state === 'dead') return () => undefined;
  time.kill(worker.process);
  return () => {
    if (workers.get(machine) === worker)
      workers.set(machine, startWorker(deployment, `${worker.process.name}'`));
  };
}

function freeze({ time }: Deployment, process: SimProcess): () => void {
  time.freeze(process);
  return () => time.thaw(process);
}

function linksOf({ gateways, workers }: Deployment): { links: { store: Link }; restored: () => void }[] {
  return [...gateways.values(), ...workers.values()].map(({ links, client, process }) => ({
    links,
    restored: () => {
      if (process.state === 'dead' || !links.store.hasLost) return;
      links.store.hasLost = false;
      links.store.tell('a restored connection', client.reconnected);
    },
  }));
}

function cut(deployment: Deployment, direction: 'cutToServer' | 'cutToProcess'): () => void {
  const { links, restored } = deployment.random.pick(linksOf(deployment));
  links.store[direction] = true;
  return () => {
    links.store[direction] = false;
    restored();
  };
}

function cutBoth(deployment: Deployment): () => void {
  const { links, restored } = deployment.random.pick(linksOf(deployment));
  links.store.cutToServer = true;
  links.store.cutToProcess = true;
  return () => {
    links.store.cutToServer = false;
    links.store.cutToProcess = false;
    restored();
  };
}

function slow(deployment: Deployment): () => void {
  const { links } = deployment.random.pick(linksOf(deployment));
  links.store.slowMs = deployment.random.integer(5, SLOW_MS_MAX);
  return () => {
    links.store.slowMs = 0;
  };
}

function freezeStore(deployment: Deployment): () => void {
  const { server } = deployment.store;
  if (server.state === 'up') server.state = 'frozen';
  return () => {
    if (server.state === 'frozen') thawServer(server);
    for (const { restored } of linksOf(deployment)) restored();
  };
}

/** `lostMs`: what it forgets; null: everything. */
function restartStore(deployment: Deployment, lostMs: number | null): () => void {
  const { store, time, judge } = deployment;
  let kept = lostMs === null ? null : store.remember();
  const begin = () => {
    if (lostMs !== 0) judge.storeLost();
    store.server.state = 'down';
    store.server.backlog = [];
  };
  if (lostMs === null || lostMs === 0) begin();
  else time.after(lostMs, null, 'the store stops', begin);
  return () => {
    if (lostMs === 0) kept = store.remember();
    store.restart(kept);
    store.server.state = 'up';
    for (const { links, restored } of linksOf(deployment)) {
      links.store.hasLost = true;
      restored();
    }
  };
}

/** It loses everything while it serves, and no connection breaks. */
function flushStore({ store, judge }: Deployment): () => void {
  judge.storeLost();
  store.restart(null);
  return () => undefined;
}

/** What it kept in its journal is left to the next process. */
function dieWithoutStore(deployment: Deployment, durationMs: number): () => void {
  const { time } = deployment;
  const startStore = restartStore(deployment, 0);
  let startAgain: () => void = () => undefined;
  time.after(durationMs / 2, null, 'a gateway dies', () => {
    startAgain = killGateway(deployment);
  });
  return () => {
    startStore();
    startAgain();
  };
}

function errors(
  { random }: Deployment,
  kind: 'failsBefore' | 'losesAnswers',
  server: Deployment['store']['server'],
): () => void {
  server[kind] = random.pick([10, 50, 100]);
  return () => {
    server[kind] = 0;
  };
}

function ledgerDown({ ledger: { server } }: Deployment): () => void {
  server.state = 'down';
  return () => {
    server.state = 'up';
  };
}
