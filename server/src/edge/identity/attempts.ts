import { headers } from '@relay/contract';
import { RelayError } from '../../domain/relay-error.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Redis } from '../../store/redis/redis.ts';
import { nameOf } from './session-secrets.ts';

/** How many failures one subject may have per window. */
const FAILURES_MAX = { account: 10, client: 100, sign_up: 100 } as const;
const WINDOW_MS = 15 * 60_000;
/** Subjects that one process counts in memory, without Redis or while it is unavailable. */
const LOCAL_MAX = 10_000;

export interface Subject {
  readonly kind: keyof typeof FAILURES_MAX;
  readonly of: string;
}

export interface Attempts {
  /**
   * Counts an attempt against every subject before it is made, so that concurrent attempts cannot pass together. Throws
   * `too_many_attempts` when a subject has none left. The returned function gives the attempt back; call it when the
   * attempt did not fail.
   */
  take(subjects: readonly Subject[]): Promise<() => Promise<void>>;
}

const TAKE = `local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {count, redis.call('PTTL', KEYS[1])}`;

// A window that has ended meanwhile is not restarted.
const GIVE_BACK = `if tonumber(redis.call('GET', KEYS[1]) or '0') > 0 then redis.call('DECR', KEYS[1]) end
return 1`;

interface Taken {
  readonly count: number;
  readonly resetMs: number;
  readonly giveBack: () => unknown;
}

export function createAttempts(deps: {
  /** Null: this process is the whole deployment and counts in memory. */
  readonly redis: Pick<Redis, 'run'> | null;
  readonly clock: Clock;
  readonly secret: Buffer;
}): Attempts {
  const { redis, clock } = deps;
  const local = new Map<string, { count: number; endsAtMs: number }>();
  const keyOf = ({ kind, of }: Subject) => `relay:attempts:${kind}:${nameOf(deps.secret, of)}`;

  /** Counts in this process only. With several processes and no Redis the limit is weaker, but still a limit. */
  function takeLocally(key: string): Taken {
    const nowMs = clock.nowMs();
    const known = local.get(key);
    const entry =
      known !== undefined && known.endsAtMs > nowMs ? known : { count: 0, endsAtMs: nowMs + WINDOW_MS };
    entry.count += 1;
    local.delete(key);
    local.set(key, entry);
    const [oldest] = local.keys();
    if (local.size > LOCAL_MAX && oldest !== undefined) local.delete(oldest);
    return { count: entry.count, resetMs: entry.endsAtMs - nowMs, giveBack: () => (entry.count -= 1) };
  }

  async function takeOne(key: string): Promise<Taken> {
    if (redis === null) return takeLocally(key);
    const reply = await redis.run(['EVAL', TAKE, '1', key, String(WINDOW_MS)], key).catch(() => null);
    if (!Array.isArray(reply)) return takeLocally(key);
    return {
      count: Number(reply[0]),
      resetMs: Number(reply[1]),
      giveBack: () => redis.run(['EVAL', GIVE_BACK, '1', key], key).catch(() => undefined),
    };
  }

  return {
    async take(subjects) {
      const taken = await Promise.all(
        subjects.map(async (subject) => ({ ...(await takeOne(keyOf(subject))), kind: subject.kind })),
      );
      const spent = taken.filter(({ count, kind }) => count > FAILURES_MAX[kind]);
      if (spent.length > 0) throw tooMany(Math.max(...spent.map(({ resetMs }) => resetMs)));
      return async () => {
        await Promise.all(taken.map(({ giveBack }) => giveBack()));
      };
    },
  };
}

function tooMany(resetMs: number): RelayError {
  const seconds = Math.max(1, Math.ceil(resetMs / 1_000));
  return new RelayError('too_many_attempts', {
    fields: { retry_after: seconds },
    headers: { [headers.retryAfter]: String(seconds) },
  });
}
