import * as gateway from './kill-gateway.ts';
import * as sink from './kill-sink.ts';
import * as worker from './kill-worker.ts';
import { awayMs, type Kill } from './kills.ts';
import type { Random } from './random.ts';

const redis: Kill = async (scene) => {
  await scene.fleet.killRedis(awayMs(scene));
  return true;
};

const postgres: Kill = async (scene) => {
  await scene.fleet.killPostgres(awayMs(scene));
  return true;
};

/** Each way to kill, and how often in a full run and in a short one. */
const MOMENTS = {
  gateway_waiting: { kill: gateway.whileWaiting, whole: 3, short: 1 },
  gateway_before_dispatch: { kill: gateway.beforeDispatch, whole: 4, short: 1 },
  gateway_mid_stream: { kill: gateway.inMidStream, whole: 3, short: 1 },
  gateway_before_settle: { kill: gateway.beforeSettle, whole: 4, short: 1 },
  gateway_anywhere: { kill: gateway.anywhere, whole: 10, short: 1 },
  worker_before_commit: { kill: worker.beforeCommit, whole: 3, short: 1 },
  worker_after_commit: { kill: worker.afterCommit, whole: 3, short: 1 },
  worker_in_file: { kill: sink.inFile, whole: 2, short: 1 },
  worker_file_sealed: { kill: sink.sealed, whole: 2, short: 1 },
  worker_anywhere: { kill: worker.anywhere, whole: 4, short: 1 },
  redis: { kill: redis, whole: 5, short: 1 },
  postgres: { kill: postgres, whole: 5, short: 1 },
} satisfies Record<string, { kill: Kill; whole: number; short: number }>;

export type MomentName = keyof typeof MOMENTS;
export const momentNames = Object.keys(MOMENTS) as MomentName[];

/** How often each moment must be observed for the run to count. */
export const SEEN_MIN = { whole: 2, short: 1 } as const;
export const anywhereNames: readonly MomentName[] = ['gateway_anywhere', 'worker_anywhere'];

export interface PlannedKill {
  readonly name: MomentName;
  readonly kill: Kill;
}

export function planKills(form: 'whole' | 'short', random: Random): PlannedKill[] {
  const planned = momentNames.flatMap((name) =>
    Array.from({ length: MOMENTS[name][form] }, () => ({ name, kill: MOMENTS[name].kill })),
  );
  return random.shuffled(planned);
}
