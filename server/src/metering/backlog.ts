import type { Clock } from '../kit/clock.ts';
import type { Redis } from '../store/redis/redis.ts';
import { usageStreamOf } from '../store/redis/shards.ts';
import { GROUP } from './stream-group.ts';

const EVERY_MS = 5_000;

/** Settled usage of all shards in use that is not in the ledger yet. */
export interface BacklogState {
  readonly entries: number;
  /** Entries that a worker has taken and not written yet. */
  readonly taken: number;
  /** Age of the oldest entry; 0 when there is none. */
  readonly lagMs: number;
}

export interface Backlog {
  /** From memory. Null before the first read, and while Redis does not answer. */
  state(): BacklogState | null;
  stop(): Promise<void>;
}

/** Reads the length of the usage streams every 5 seconds, with a few commands whatever their length. */
export function startBacklog(deps: { readonly redis: Redis; readonly clock: Clock }): Backlog {
  let state: BacklogState | null = null;
  let reading = Promise.resolve();
  let isReading = false;

  async function look(): Promise<void> {
    if (isReading) return;
    isReading = true;
    state = await readBacklog(deps).catch(() => null);
    isReading = false;
  }

  const timer = setInterval(() => {
    reading = look();
  }, EVERY_MS);
  timer.unref();
  reading = look();
  return {
    state: () => state,
    async stop() {
      clearInterval(timer);
      await reading;
    },
  };
}

export async function readBacklog({ redis, clock }: { redis: Redis; clock: Clock }): Promise<BacklogState> {
  let [entries, taken] = [0, 0];
  let oldestMs = Number.POSITIVE_INFINITY;
  for (const prefix of await redis.shards.list()) {
    const stream = usageStreamOf(prefix);
    // Written entries are removed, so the length is the backlog.
    const length = Number(await redis.run(['XLEN', stream], stream));
    if (length === 0) continue;
    entries += length;
    taken += await takenOf(redis, stream);
    const first = await redis.run(['XRANGE', stream, '-', '+', 'COUNT', '1'], stream);
    oldestMs = Math.min(oldestMs, appendedAtMs(first) ?? oldestMs);
  }
  const lagMs = Number.isFinite(oldestMs) ? Math.max(0, clock.nowMs() - oldestMs) : 0;
  return { entries, taken, lagMs };
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
