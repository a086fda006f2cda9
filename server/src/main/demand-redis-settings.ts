import type { HealthReport } from '@relay/contract';
import type { Log } from '../kit/log.ts';
import { announceFormat, LIVE_FORMAT, otherFormats } from '../store/redis/live-format.ts';
import type { Redis } from '../store/redis/redis.ts';
import { NO_EVICTION, type RedisSettings, readRedisSettings } from '../store/redis/redis-settings.ts';
import { EnvironmentError } from './environment.ts';

/** A start does not wait longer for Redis: without it, requests without limits are served all the same. */
const READY_MS_MAX = 2_000;
const READ_EVERY_MS = 60_000;

export interface WatchedSettings {
  /** Null before Redis has told them. */
  state(): NonNullable<HealthReport['redis_settings']> | null;
  stop(): void;
}

/**
 * Redis must not evict: it would drop counters of limits and usage that is not in the ledger yet, and no one would notice. And no process may use it that
 * stores limits in another format: both would let through what the limit allows. Refuses the start then; a server that is changed later, or was
 * unreachable at the start, is reported every minute.
 */
export async function demandRedisSettings(redis: Redis, log: Log): Promise<WatchedSettings> {
  const isReady = await redis.whenReady(READY_MS_MAX).then(
    () => true,
    () => false,
  );
  const announced = announceFormat(redis);
  if (isReady) await announced;
  let known = isReady ? await readRedisSettings(redis) : null;
  if (known !== null && known.eviction !== NO_EVICTION) throw new EnvironmentError(evictionMessage(known));
  const formats = isReady ? await readFormats(redis) : [];
  if (formats.length > 0) throw new EnvironmentError(formatMessage(formats));
  if (known?.persistence === 'none') {
    log.warn(
      {},
      'Redis keeps nothing on disk, so a restart of it loses the requests of gateways that end meanwhile; set `appendonly yes` in its configuration',
    );
  }

  async function read(): Promise<void> {
    await redis.whenReady(READY_MS_MAX);
    known = await readRedisSettings(redis);
    if (known.eviction !== NO_EVICTION) log.error({ ...known }, evictionMessage(known));
    const others = await readFormats(redis);
    if (others.length > 0) log.error({ formats: others }, formatMessage(others));
  }

  // The Redis client logs outages.
  const timer = setInterval(() => void read().catch(() => undefined), READ_EVERY_MS).unref();
  return { state: () => known, stop: () => clearInterval(timer) };
}

function evictionMessage({ eviction }: RedisSettings): string {
  return `Redis (REDIS_URL) evicts data when its memory is full: maxmemory-policy is ${eviction}. Limits and usage would be lost. Set \`maxmemory-policy ${NO_EVICTION}\` in its configuration, or run \`redis-cli CONFIG SET maxmemory-policy ${NO_EVICTION}\`.`;
}

/** A Redis that forbids PUBSUB does not tell. */
function readFormats(redis: Redis): Promise<readonly string[]> {
  return otherFormats(redis).catch(() => []);
}

function formatMessage(formats: readonly string[]): string {
  return `Processes of another version use this Redis (REDIS_URL). They store limits in another format (${formats.join(', ')}; this version: ${LIVE_FORMAT}), so each limit would be counted twice. Stop all of them, then start this version.`;
}
