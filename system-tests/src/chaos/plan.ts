import * as gateway from './kill-gateway.ts';
import * as sink from './kill-sink.ts';
import * as worker from './kill-worker.ts';
import { awayMs, type Kill } from './kills.ts';
import type { Random } from './random.ts';
import * as trouble from './troubles.ts';

const redis: Kill = async (scene) => {
  await scene.fleet.killRedis(awayMs(scene));
  return true;
};

const postgres: Kill = async (scene) => {
  await scene.fleet.killPostgres(awayMs(scene));
  return true;
};

/** Each way to kill at a chosen moment, and how often in a full run and in a short one. */
const MOMENTS = {
  gateway_waiting: { kill: gateway.whileWaiting, whole: 3, short: 1 },
  gateway_before_dispatch: { kill: gateway.beforeDispatch, whole: 4, short: 1 },
  gateway_mid_stream: { kill: gateway.inMidStream, whole: 3, short: 1 },
  gateway_before_settle: { kill: gateway.beforeSettle, whole: 4, short: 1 },
  worker_before_commit: { kill: worker.beforeCommit, whole: 3, short: 1 },
  worker_after_commit: { kill: worker.afterCommit, whole: 3, short: 1 },
  worker_in_file: { kill: sink.inFile, whole: 2, short: 1 },
  worker_file_sealed: { kill: sink.sealed, whole: 2, short: 1 },
} satisfies Record<string, Planned>;

/** Kills at any moment. */
const ANYWHERE = {
  gateway_anywhere: { kill: gateway.anywhere, whole: 10, short: 1 },
  worker_anywhere: { kill: worker.anywhere, whole: 4, short: 1 },
  redis: { kill: redis, whole: 5, short: 1 },
  postgres: { kill: postgres, whole: 5, short: 1 },
} satisfies Record<string, Planned>;

/** What else goes wrong between processes, stores and providers. */
const TROUBLES = {
  gateway_frozen: once(trouble.gatewayFrozen),
  gateway_cut_off: once(trouble.gatewayCutOff),
  gateway_isolated: once(trouble.gatewayIsolated),
  gateway_deaf: once(trouble.gatewayDeaf),
  gateway_mute: once(trouble.gatewayMute),
  gateway_slow: once(trouble.gatewaySlow),
  worker_frozen: once(trouble.workerFrozen),
  worker_cut_off: once(trouble.workerCutOff),
  worker_deaf: once(trouble.workerDeaf),
  connections_reset: once(trouble.connectionsReset),
  redis_frozen: once(trouble.redisFrozen),
  postgres_frozen: once(trouble.postgresFrozen),
  provider_away: once(trouble.providerAway),
} satisfies Record<string, Planned>;

/**
 * Redis loses what it held. A gateway has what it was doing, and the ledger the rest; so no gateway is killed shortly before or after: what
 * both of them forget is lost.
 */
const LOSSES = {
  redis_flushed: once(trouble.redisFlushed),
  redis_emptied: once(trouble.redisEmptied),
  redis_behind: once(trouble.redisBehind),
} satisfies Record<string, Planned>;

/** How to kill, and how often in a whole run and in a short one. */
export interface Planned {
  readonly kill: Kill;
  readonly whole: number;
  readonly short: number;
}

function once(kill: Kill): Planned {
  return { kill, whole: 1, short: 1 };
}

const KILLS: Readonly<Record<string, Planned>> = { ...MOMENTS, ...ANYWHERE };
const FAULTS: Readonly<Record<string, Planned>> = { ...LOSSES, ...KILLS, ...TROUBLES };

/** Moments that must be observed, each this often, for a run to count. */
export const momentNames = Object.keys(MOMENTS);
export const SEEN_MIN = { whole: 2, short: 1 } as const;
export const faultNames = Object.keys(FAULTS);

export interface PlannedKill {
  readonly name: string;
  readonly kill: Kill;
}

export function planKills(form: 'whole' | 'short', random: Random): PlannedKill[] {
  return planOf(KILLS, form, random);
}

export function planOf(
  moments: Readonly<Record<string, Planned>>,
  form: 'whole' | 'short',
  random: Random,
): PlannedKill[] {
  const planned = Object.entries(moments).flatMap(([name, each]) =>
    Array.from({ length: each[form] }, () => ({ name, kill: each.kill })),
  );
  return random.shuffled(planned);
}

/** Each fault once: losses first, and the others in any order. */
export function planFaults(only: readonly string[], random: Random): PlannedKill[] {
  const chosen = Object.entries(FAULTS)
    .filter(([name]) => only.length === 0 || only.includes(name))
    .map(([name, { kill }]) => ({ name, kill }));
  const isLoss = ({ name }: PlannedKill) => name in LOSSES;
  const [losses, others] = [chosen.filter(isLoss), chosen.filter((each) => !isLoss(each))];
  return [...random.shuffled(losses), ...random.shuffled(others)];
}
