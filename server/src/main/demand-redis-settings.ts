import type { HealthReport } from '@relay/contract';
import type { Log } from '../kit/log.ts';
import { announceFormat, LIVE_FORMAT, otherFormats } from '../store/redis/live-format.ts';
import type { Redis } from '../store/redis/redis.ts';
import { NO_EVICTION, type RedisSettings, readRedisSettings } from '../store/redis/redis-settings.ts';
import { certificateFault } from '../store/store-error.ts';
import { EnvironmentError } from './environment.ts';

/** A start does not wait longer for Redis: without it, requests without limits are served all the same. */
const READY_MS_MAX = 2_000;
const READ_EVERY_MS = 60_000;
/** The first with sharded channels. */
const VERSION_MIN = 7;

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
  const refusal = known === null ? connectionRefusal(redis.fault()) : settingsRefusal(known, redis.isCluster);
  if (refusal !== null) throw new EnvironmentError(refusal);
  const formats = isReady ? await readFormats(redis) : [];
  if (formats.length > 0) throw new EnvironmentError(formatMessage(formats));
  if (known?.persistence === 'none') {
    log.warn(
      {},
      'Redis has no persistence: if Redis restarts and a gateway stops at the same time, usage that is not in the ledger yet is lost; set `appendonly yes` in its configuration',
    );
  }

  async function read(): Promise<void> {
    await redis.whenReady(READY_MS_MAX);
    await redis.demandOwn();
    known = await readRedisSettings(redis);
    if (known.eviction !== NO_EVICTION) log.error({ ...known }, evictionMessage(known));
    const others = await readFormats(redis);
    if (others.length > 0) log.error({ formats: others }, formatMessage(others));
  }

  // The Redis client logs outages.
  const timer = setInterval(() => void read().catch(() => undefined), READ_EVERY_MS).unref();
  return { state: () => (known === null ? null : reported(known)), stop: () => clearInterval(timer) };
}

/** Only what `relay doctor` needs, because the health report is public. */
function reported({ eviction, persistence }: RedisSettings): ReturnType<WatchedSettings['state']> {
  return { eviction, persistence };
}

/** Why Redis will never answer at this address; null for one that may be back soon. */
function connectionRefusal(fault: unknown): string | null {
  const certificate = certificateFault(fault);
  if (certificate !== null)
    return `REDIS_URL: Relay doesn’t trust Redis’s certificate: ${certificate}. Set NODE_EXTRA_CA_CERTS to the file of the CA that signed it, and use the host name in the certificate.`;
  const message = fault instanceof Error ? fault.message : '';
  if (/^(?:WRONGPASS|NOAUTH)\b/.test(message))
    return `Redis (REDIS_URL) rejects the credentials: ${message}. Put them in the URL: redis://user:password@host:6379.`;
  if (message.includes('cluster support disabled'))
    return 'REDIS_URL lists several servers, as for a cluster, but this Redis is not a cluster. List one server. For failover to a replica, put a proxy in front of both.';
  return null;
}

function settingsRefusal(known: RedisSettings, isCluster: boolean): string | null {
  const { eviction, mode, version, isReplica } = known;
  if (mode === 'sentinel')
    return 'REDIS_URL points to Redis Sentinel, which stores no data. Put HAProxy in front of the Redis servers, let it find the master, and set REDIS_URL to HAProxy (docs/operate/redis.md has the configuration).';
  if (mode === 'cluster' && !isCluster)
    return 'REDIS_URL points to one node of a Redis cluster. List several nodes, separated by commas, or the same node twice.';
  if (isReplica)
    return 'Redis (REDIS_URL) is a replica, which accepts no writes. Set REDIS_URL to the master.';
  if (Number.parseInt(version, 10) < VERSION_MIN)
    return `Redis (REDIS_URL) is version ${version}. Relay needs 7 or later, or Valkey.`;
  return eviction === NO_EVICTION ? null : evictionMessage(known);
}

function evictionMessage({ eviction }: RedisSettings): string {
  return `Redis (REDIS_URL) evicts data when its memory is full: maxmemory-policy is ${eviction}. Limit state and usage would be lost. Set \`maxmemory-policy ${NO_EVICTION}\` in its configuration, or run \`redis-cli CONFIG SET maxmemory-policy ${NO_EVICTION}\`.`;
}

/** A Redis that forbids PUBSUB does not tell. */
function readFormats(redis: Redis): Promise<readonly string[]> {
  return otherFormats(redis).catch(() => []);
}

function formatMessage(formats: readonly string[]): string {
  return `Processes that run another version are using this Redis (REDIS_URL). They store limits in another format (${formats.join(', ')}; this version: ${LIVE_FORMAT}), so each limit would be counted twice. Stop all of them, then start this version.`;
}
