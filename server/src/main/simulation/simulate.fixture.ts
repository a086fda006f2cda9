import { createRandom, type Random } from '@relay/testbed/random';
import { openConnection } from './connection.fixture.ts';
import { createDeployment, type Deployment } from './deployment.fixture.ts';
import { filesLeft, formatDisk } from './disk.fixture.ts';
import { planFaults } from './faults.fixture.ts';
import { startGateway } from './gateway.fixture.ts';
import { createVirtualTime, takeOverGlobals } from './virtual-time.fixture.ts';
import { RECONCILE_MS, startWorker } from './worker.fixture.ts';
import { DRAIN_MS, randomWorld } from './world.fixture.ts';

export interface Simulated {
  readonly findings: readonly string[];
  readonly simulatedMs: number;
  readonly requests: number;
  readonly dispatched: number;
  readonly faults: readonly string[];
  readonly unnoticedLosses: number;
}

/** In the middle of an hour that no run leaves. */
const START_MS = Date.UTC(2027, 0, 15, 10, 20);

/** It was quiet when nothing was left at so many looks in a row. */
const QUIET_LOOKS = 3;
const LOOK_EVERY_MS = 1_500;

/** One run: everything that happens in it follows from the seed. */
export async function simulate(
  seed: number,
  trace: ((line: string) => void) | null = null,
): Promise<Simulated> {
  const random = createRandom(seed);
  const time = createVirtualTime(START_MS, trace);
  const giveBack = takeOverGlobals(time, createRandom(seed ^ 0x5bd1e995));
  const failed = (error: unknown) => deployment.judge.note(`defect: ${String(error)}`);
  process.on('unhandledRejection', failed);
  formatDisk(() => false);
  const world = randomWorld(random);
  const deployment = createDeployment(time, random, world);
  try {
    for (let number = 1; number <= world.workers; number += 1)
      deployment.workers.set(`w${number}`, startWorker(deployment, `w${number}`));
    for (let number = 1; number <= world.gateways; number += 1)
      deployment.gateways.set(`g${number}`, startGateway(deployment, `g${number}`, `g${number}`));
    const overMs = planFaults(deployment);
    planArrivals(deployment);
    await time.runUntil(START_MS + Math.max(world.activeMs, overMs));
    await drain(deployment);
    const left = filesLeft().map((path) => `left: ${path}`);
    const findings = [...(await deployment.judge.findings()), ...left];
    const { arrivals, faults } = deployment.judge.seen();
    return {
      findings,
      simulatedMs: time.nowMs() - START_MS,
      requests: arrivals.size,
      dispatched: deployment.provider.log.length,
      faults: faults.map(({ name }) => name),
      unnoticedLosses: deployment.store.unnoticedLosses(),
    };
  } finally {
    giveBack();
    process.off('unhandledRejection', failed);
  }
}

/** Until nothing is left, or what is left had long enough to end. */
async function drain({ time, judge, store }: Deployment): Promise<void> {
  const untilMs = time.nowMs() + DRAIN_MS;
  const isQuiet = () =>
    store.engine().leases() === 0 &&
    store.streams().length() === 0 &&
    filesLeft().length === 0 &&
    [...judge.seen().arrivals.values()].every(({ connection }) => connection.ended() !== null);
  for (let quiet = 0; quiet < QUIET_LOOKS && time.nowMs() < untilMs; ) {
    await time.runUntil(time.nowMs() + LOOK_EVERY_MS);
    quiet = isQuiet() ? quiet + 1 : 0;
  }
  // The next comparison corrects what a loss left wrong, and windows that count less than the estimate of a dead gateway's request.
  if (judge.seen().lossesMs.length + store.expired.size > 0)
    await time.runUntil(time.nowMs() + 2 * RECONCILE_MS);
}

/** Clients send at random times, to any gateway that answers. */
function planArrivals(deployment: Deployment): void {
  const { random, time, world } = deployment;
  const next = (atMs: number) => {
    if (atMs > world.activeMs) return;
    time.after(atMs - (time.nowMs() - START_MS), null, 'a client', () => {
      arrive(deployment);
      next(atMs + random.integer(1, 2 * world.betweenMs));
    });
  };
  next(500);
}

const WORDS = 'some words that a client sends to a model, of which the estimate is never too low. '.repeat(3);

function arrive(deployment: Deployment): void {
  const { random, time, gateways, judge, world } = deployment;
  const gateway = random.pick([...gateways.values()]);
  if (gateway.process.state === 'dead') return;
  const organizationId = random.pick([...world.organizations.keys()]);
  const lanes = [...(world.organizations.get(organizationId)?.lanes.keys() ?? [])];
  const requestId = deployment.newId(gateway.process.clock.nowMs());
  const body = {
    model: random.pick(lanes),
    max_tokens: random.integer(1, 60),
    stream: isDrawn(random, world.streams),
    messages: [{ role: 'user', content: WORDS }],
  };
  const connection = openConnection(requestId, body);
  const arrival = {
    requestId,
    organizationId,
    atMs: time.nowMs(),
    by: gateway.process,
    connection,
    endedMs: null as number | null,
  };
  judge.arrived(arrival);
  connection.response.once('close', () => {
    arrival.endedMs = time.nowMs();
  });
  time.after(0, gateway.process, `serves ${requestId}`, () =>
    gateway.serve(requestId, organizationId, connection),
  );
  if (isDrawn(random, world.leaves))
    time.after(
      random.integer(1, 6_000),
      gateway.process,
      `loses the client of ${requestId}`,
      connection.leave,
    );
}

function isDrawn(random: Random, percent: number): boolean {
  return percent > 0 && random.integer(1, 100) <= percent;
}
