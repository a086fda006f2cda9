import type { Clock } from '../kit/clock.ts';
import type { Redis } from '../store/redis/redis.ts';
import { usageStreamOf } from '../store/redis/shards.ts';
import { noteBusyShards } from './shard-patrol.ts';
import { GROUP } from './stream-group.ts';

const EVERY_MS = 5_000;
/** Of a process without the metering role, so that many gateways with many shards cost Redis little. */
const COMMANDS_PER_S_MAX = 40;

/** Settled usage of all shards in use that is not in the ledger yet. */
export interface BacklogState {
  readonly entries: number;
  /** Entries that a worker has taken and not written yet. */
  readonly taken: number;
  /** Age of the oldest entry; 0 when there is none. */
  readonly lagMs: number;
}

/** From memory. */
export interface Backlog {
  /** Null before the first read, and while Redis does not answer. */
  state(): BacklogState | null;
  /** How many workers of the deployment read the streams; null while it is not known. */
  workers(): number | null;
  /**
   * Until when the ledger has everything. It stands still while Redis does not answer or rejects writes, because usage is on the gateways' disks
   * then. Null before it was ever known.
   */
  completeUntilMs(): number | null;
  stop(): Promise<void>;
}

export interface BacklogDeps {
  readonly redis: Redis;
  readonly clock: Clock;
  /** The id of this process if it is a worker. */
  readonly worker: string | null;
  /** Whether Redis takes what gateways and workers write, as far as is known. */
  readonly acceptsWrites: () => boolean;
}

/**
 * Reads the usage streams every 5 seconds, with a few commands whatever their length, in every role: without a worker, others tell that there
 * is none.
 */
export function startBacklog(deps: BacklogDeps): Backlog {
  const { redis, clock, worker, acceptsWrites } = deps;
  let found: BacklogState | null = null;
  let workers: number | null = null;
  let completeUntilMs: number | null = null;
  let nextAtMs = Number.NEGATIVE_INFINITY;
  // A worker looks at all shards itself.
  let isEveryShardSeen = worker !== null;

  async function look(): Promise<void> {
    if (clock.monotonicMs() < nextAtMs) return;
    const nowMs = clock.nowMs();
    try {
      if (!isEveryShardSeen) await noteBusyShards(redis);
      isEveryShardSeen = true;
      const { state, commands } = await readBacklog(deps);
      const present = await presentWorkers(redis, worker).catch(() => null);
      const isWhole = acceptsWrites();
      [found, workers] = [state, isWhole ? present : null];
      if (isWhole) completeUntilMs = nowMs - state.lagMs;
      const pauseMs = worker === null ? (commands / COMMANDS_PER_S_MAX) * 1_000 : 0;
      nextAtMs = clock.monotonicMs() + Math.max(0, pauseMs - EVERY_MS);
    } catch {
      [found, workers] = [null, null];
    }
  }

  let looking = Promise.resolve();
  let isLooking = false;
  async function lookOnce(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    looking = look();
    await looking;
    isLooking = false;
  }
  const timer = setInterval(() => void lookOnce(), EVERY_MS);
  timer.unref();
  void lookOnce();
  return {
    state: () => found,
    workers: () => workers,
    completeUntilMs: () => completeUntilMs,
    async stop() {
      clearInterval(timer);
      await looking;
      if (worker !== null) await redis.run(['ZREM', WORKERS, worker], WORKERS).catch(() => undefined);
    },
  };
}

/** With embedded stores this process is the worker, and its journal knows what it has not written. */
export function embeddedBacklog(state: () => BacklogState, clock: Pick<Clock, 'nowMs'>): Backlog {
  return {
    state,
    workers: () => 1,
    completeUntilMs: () => clock.nowMs() - state().lagMs,
    stop: () => Promise.resolve(),
  };
}

export async function readBacklog({ redis, clock }: Pick<BacklogDeps, 'redis' | 'clock'>): Promise<{
  readonly state: BacklogState;
  readonly commands: number;
}> {
  let [entries, taken, commands] = [0, 0, 0];
  let oldestMs = Number.POSITIVE_INFINITY;
  for (const prefix of await redis.shards.list()) {
    const stream = usageStreamOf(prefix);
    // Written entries are removed, so the length is the backlog.
    const length = Number(await redis.run(['XLEN', stream], stream));
    commands += 1;
    if (length === 0) continue;
    commands += 2;
    // While no worker writes it, the shard has to stay in the index.
    redis.shards.use(prefix);
    entries += length;
    taken += await takenOf(redis, stream);
    const first = await redis.run(['XRANGE', stream, '-', '+', 'COUNT', '1'], stream);
    oldestMs = Math.min(oldestMs, appendedAtMs(first) ?? oldestMs);
  }
  const lagMs = Number.isFinite(oldestMs) ? Math.max(0, clock.nowMs() - oldestMs) : 0;
  return { state: { entries, taken, lagMs }, commands };
}

/** A sorted set of the workers by when they last said that they run, in seconds of the clock of Redis. */
const WORKERS = 'relay:workers';
const PRESENT_S = 20;
const COUNT = `return redis.call('ZCOUNT', KEYS[1], redis.call('TIME')[1] - ${PRESENT_S}, '+inf')`;
const ANNOUNCE = `
local now = redis.call('TIME')[1]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${PRESENT_S})
redis.call('ZADD', KEYS[1], now, ARGV[1])
return redis.call('ZCARD', KEYS[1])`;

/** How many workers run. One that asks says that it does. */
async function presentWorkers(redis: Redis, worker: string | null): Promise<number> {
  const command = worker === null ? [COUNT, '1', WORKERS] : [ANNOUNCE, '1', WORKERS, worker];
  return Number(await redis.run(['EVAL', ...command], WORKERS));
}

async function takenOf(redis: Redis, stream: string): Promise<number> {
  try {
    const reply = await redis.run(['XPENDING', stream, GROUP], stream);
    return Array.isArray(reply) ? Number(reply[0]) : 0;
  } catch (error) {
    // No worker has created the group yet.
    if (error instanceof Error && error.message.startsWith('NOGROUP')) return 0;
    throw error;
  }
}

/** The id of an entry begins with the time at which it was appended. */
function appendedAtMs(reply: unknown): number | null {
  const first: unknown = Array.isArray(reply) ? reply[0] : null;
  const atMs = Array.isArray(first) ? Number.parseInt(String(first[0]), 10) : Number.NaN;
  return Number.isNaN(atMs) ? null : atMs;
}
