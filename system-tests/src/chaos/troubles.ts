import { redisCall } from '@relay/testbed';
import { afterMs } from '../harness/until.ts';
import type { NetworkedMember } from './fleet.ts';
import { livingGateways } from './kill-gateway.ts';
import { livingWorkers } from './kill-worker.ts';
import { awayMs, type Kill, type Scene } from './kills.ts';

/** Well below a lease, so that what a frozen or separated process holds is still its own afterwards. */
const TROUBLE_MS = { min: 500, max: 5_000 };
/** Longer than Relay waits for a store, so that some requests fail. */
const STORE_MS = { min: 300, max: 3_000 };
const SLOW_MS = { min: 20, max: 200 };
const RESETS = 6;
/** Until everything that was lost has been written again and is in the ledger. */
const REBUILT_MS = 6_000;

/** SIGSTOP and, later, SIGCONT. */
const frozen =
  (living: (scene: Scene) => Promise<NetworkedMember[]>): Kill =>
  async (scene) => {
    const { process: victim } = scene.random.pick(await living(scene));
    if (victim === null) return false;
    process.kill(victim.pid, 'SIGSTOP');
    await afterMs(scene.random.between(TROUBLE_MS.min, TROUBLE_MS.max));
    process.kill(victim.pid, 'SIGCONT');
    return true;
  };

export const gatewayFrozen = frozen(livingGateways);
export const workerFrozen = frozen(livingWorkers);

/** The network between one process and Redis. */
const separated =
  (
    living: (scene: Scene) => Promise<NetworkedMember[]>,
    trouble: (member: NetworkedMember, scene: Scene) => unknown,
  ): Kill =>
  async (scene) => {
    const member = scene.random.pick(await living(scene));
    await trouble(member, scene);
    await afterMs(scene.random.between(TROUBLE_MS.min, TROUBLE_MS.max));
    await member.network.heal();
    return true;
  };

export const gatewayCutOff = separated(livingGateways, ({ network }) => network.refuse());
export const gatewayIsolated = separated(livingGateways, ({ network }) => network.stall());
/** What it asks is done, and it does not hear so. */
export const gatewayDeaf = separated(livingGateways, ({ network }) => network.stall('answers'));
export const gatewayMute = separated(livingGateways, ({ network }) => network.stall('requests'));
export const workerCutOff = separated(livingWorkers, ({ network }) => network.refuse());
export const workerDeaf = separated(livingWorkers, ({ network }) => network.stall('answers'));
export const gatewaySlow = separated(livingGateways, ({ network }, { random }) =>
  network.slow(random.between(SLOW_MS.min, SLOW_MS.max)),
);

/** Connections break again and again, in the middle of questions and answers. */
export const connectionsReset: Kill = async ({ fleet, random }) => {
  for (let count = 0; count < RESETS; count += 1) {
    random.pick([...fleet.gateways, ...fleet.workers]).network.cut();
    await afterMs(random.between(20, 300));
  }
  return true;
};

export const redisFrozen: Kill = async ({ fleet, random }) => {
  fleet.redis.pause();
  await afterMs(random.between(STORE_MS.min, STORE_MS.max));
  fleet.redis.resume();
  return true;
};

export const postgresFrozen: Kill = async ({ fleet, random }) => {
  fleet.postgres.pause();
  await afterMs(random.between(STORE_MS.min, STORE_MS.max));
  fleet.postgres.resume();
  return true;
};

/** Everything in Redis is gone, and it serves. */
export const redisFlushed: Kill = async ({ fleet }) => {
  await redisCall(fleet.redis.port, 'FLUSHALL');
  await afterMs(REBUILT_MS);
  return true;
};

/** It comes back without anything. */
export const redisEmptied: Kill = async (scene) => {
  await scene.fleet.killRedis(awayMs(scene), (redis) => redis.loseWrites('all'));
  await afterMs(REBUILT_MS);
  return true;
};

/** It comes back without its last writes, as a replica does that was behind. */
export const redisBehind: Kill = async (scene) => {
  const bytes = scene.random.between(1, 60_000);
  await scene.fleet.killRedis(awayMs(scene), (redis) => redis.loseWrites(bytes));
  await afterMs(REBUILT_MS);
  return true;
};

/** The provider breaks every connection of the requests that go through the gate, and refuses new ones. */
export const providerAway: Kill = async ({ fleet, random }) => {
  await fleet.gate.refuse();
  await afterMs(random.between(STORE_MS.min, STORE_MS.max));
  await fleet.gate.heal();
  return true;
};
