import type { HealthReport } from '@relay/contract';
import { durationWords } from '@relay/contract/words';
import { CLOCKS_DIFFER_MS_MAX, type Clock, type FollowingClock, systemClock } from '../kit/clock.ts';
import type { DatabaseHandle } from '../store/postgres/database-handle.ts';
import { databaseTimeMs } from '../store/postgres/database-time.ts';
import type { Redis } from '../store/redis/redis.ts';
import type { Runtime } from './runtime.ts';

/** Further off, the process takes no new requests. */
const READY_MS_MAX = 30_000;
const EVERY_MS = 60_000;
/** How often it looks whether the machine's clock was set, and tries a store again that has not answered. */
const LOOK_MS = 5_000;
const CONNECT_MS_MAX = 1_000;

type ClockHealth = NonNullable<HealthReport['clock']>;

/** A store that tells its time, or the times of its servers. */
export interface TimeSource {
  readonly name: string;
  readonly read: () => Promise<readonly number[]>;
  /** The process keeps to the time of this one. */
  readonly isFollowed: boolean;
}

export interface ClockWatch {
  health(): ClockHealth;
  stop(): void;
}

/** The stores that are servers. Those in the process have its clock. */
export function timeSourcesOf({
  database,
  redis,
}: {
  readonly database: Pick<DatabaseHandle, 'db'>;
  readonly redis: Redis | null;
}): TimeSource[] {
  if (redis === null) return [];
  return [
    { name: 'postgresql', isFollowed: true, read: async () => [await databaseTimeMs(database.db)] },
    {
      name: 'redis',
      isFollowed: false,
      read: () => redis.whenReady(CONNECT_MS_MAX).then(() => timesOf(redis)),
    },
  ];
}

async function timesOf(redis: Pick<Redis, 'servers'>): Promise<number[]> {
  return Promise.all(
    redis.servers().map(async (server) => {
      const [seconds, micros] = (await server.run(['TIME'])) as [string, string];
      return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    }),
  );
}

/**
 * Compares the machine's clock with those of the stores: before it returns, every minute, and when the machine's clock was set. What the process
 * does with time follows PostgreSQL, so a wrong clock spoils no data. It still is a fault: logs and cookies carry it.
 */
export async function watchClocks(
  { clock, log }: Pick<Runtime, 'log'> & { readonly clock: FollowingClock },
  sources: readonly TimeSource[],
  own: Clock = systemClock,
): Promise<ClockWatch> {
  const aheadMs = new Map<string, number>();
  let measuredAtMs = Number.NEGATIVE_INFINITY;
  let ownAheadMs = 0;
  let warned = '';

  async function measure(): Promise<void> {
    measuredAtMs = own.monotonicMs();
    await Promise.all(sources.map((source) => measureOne(source).catch(() => retrySoon())));
    ownAheadMs = own.nowMs() - clock.nowMs();
    tell();
  }

  function retrySoon(): void {
    measuredAtMs = Number.NEGATIVE_INFINITY;
  }

  async function measureOne({ name, read, isFollowed }: TimeSource): Promise<void> {
    const sentMs = own.monotonicMs();
    const times = await read();
    const errorMs = (own.monotonicMs() - sentMs) / 2;
    const ownMs = own.nowMs() - errorMs;
    const [first] = times;
    if (isFollowed && first !== undefined) clock.follow(first, sentMs + errorMs);
    const differences = times.map((timeMs) => ownMs - timeMs);
    const worst = differences.toSorted((one, other) => Math.abs(other) - Math.abs(one))[0] ?? 0;
    // What the call took may be all of the difference.
    aheadMs.set(name, Math.sign(worst) * Math.floor(Math.max(0, Math.abs(worst) - errorMs)));
  }

  function tell(): void {
    const { status, detail = '' } = healthOf(aheadMs);
    const level = detail === '' ? '' : status;
    if (level === warned) return;
    warned = level;
    if (level === '') log.info({}, 'this machine’s clock agrees with the stores again');
    else log.warn({ ahead_ms: Object.fromEntries(aheadMs) }, detail);
  }

  await measure();
  const timer = setInterval(() => {
    const isSet = Math.abs(own.nowMs() - clock.nowMs() - ownAheadMs) > CLOCKS_DIFFER_MS_MAX;
    if (isSet || own.monotonicMs() - measuredAtMs >= EVERY_MS) void measure();
  }, LOOK_MS);
  timer.unref();
  return { health: () => healthOf(aheadMs), stop: () => clearInterval(timer) };
}

function healthOf(aheadMs: ReadonlyMap<string, number>): ClockHealth {
  const ahead_ms = Object.fromEntries(aheadMs);
  const worst = [...aheadMs].toSorted(([, one], [, other]) => Math.abs(other) - Math.abs(one))[0];
  if (worst === undefined || Math.abs(worst[1]) <= CLOCKS_DIFFER_MS_MAX) return { status: 'ok', ahead_ms };
  const [name, ms] = worst;
  const apart = durationWords(Math.abs(ms));
  const detail = `Relay’s clock is ${apart} ${ms > 0 ? 'ahead of' : 'behind'} ${name}’s.`;
  return { status: Math.abs(ms) > READY_MS_MAX ? 'unavailable' : 'ok', detail, ahead_ms };
}
