import type { Clock } from '../../kit/clock.ts';
import type { Redis } from './redis.ts';

/** Counters that one process keeps in memory, without Redis or while it is unavailable. */
const LOCAL_MAX = 10_000;

export interface Counted {
  /** This count included. */
  readonly count: number;
  readonly resetMs: number;
  readonly giveBack: () => Promise<void>;
}

export interface WindowCounters {
  /** Adds one to a counter. Its window starts with the first count and ends by itself. */
  take(key: string, windowMs: number): Promise<Counted>;
}

const TAKE = `local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {count, redis.call('PTTL', KEYS[1])}`;

// A window that has ended meanwhile is not restarted.
const GIVE_BACK = `if tonumber(redis.call('GET', KEYS[1]) or '0') > 0 then redis.call('DECR', KEYS[1]) end
return 1`;

export function createWindowCounters(deps: {
  /** Null: this process is the whole deployment and counts in memory. */
  readonly redis: Pick<Redis, 'run'> | null;
  readonly clock: Clock;
}): WindowCounters {
  const { redis, clock } = deps;
  const local = new Map<string, { count: number; endsAtMs: number }>();

  /** Counts in this process only. With several processes and no Redis the limit is weaker, but still a limit. */
  function takeLocally(key: string, windowMs: number): Counted {
    const nowMs = clock.nowMs();
    const known = local.get(key);
    const entry =
      known !== undefined && known.endsAtMs > nowMs ? known : { count: 0, endsAtMs: nowMs + windowMs };
    entry.count += 1;
    local.delete(key);
    local.set(key, entry);
    const [oldest] = local.keys();
    if (local.size > LOCAL_MAX && oldest !== undefined) local.delete(oldest);
    return {
      count: entry.count,
      resetMs: entry.endsAtMs - nowMs,
      async giveBack() {
        entry.count -= 1;
      },
    };
  }

  return {
    async take(key, windowMs) {
      if (redis === null) return takeLocally(key, windowMs);
      const reply = await redis.run(['EVAL', TAKE, '1', key, String(windowMs)], key).catch(() => null);
      if (!Array.isArray(reply)) return takeLocally(key, windowMs);
      return {
        count: Number(reply[0]),
        resetMs: Number(reply[1]),
        async giveBack() {
          await redis.run(['EVAL', GIVE_BACK, '1', key], key).catch(() => undefined);
        },
      };
    },
  };
}
