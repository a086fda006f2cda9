import type { Clock } from '../../kit/clock.ts';
import type { Redis } from '../../store/redis/redis.ts';
import { nameOf, type SessionSecrets } from './session-secrets.ts';

const WINDOW_MS = 15 * 60_000;
/** An attempt that would wait longer is rejected, so that waiting requests stay bounded. */
export const LINE_MS_MAX = 10_000;
/**
 * How far apart attempts on one account are, by its failures in the window. It bounds guessing from many addresses to about
 * 600 passwords in 15 minutes.
 */
const SPACING = [
  { failures: 20, ms: 250 },
  { failures: 100, ms: 1_000 },
  { failures: 500, ms: 5_000 },
] as const;
const LOCAL_MAX = 10_000;

/** When an attempt's turn is; `rejected` when the line is full. */
export type Turn =
  | { readonly kind: 'turn'; readonly waitMs: number; readonly giveBack: () => Promise<void> }
  | { readonly kind: 'rejected'; readonly retryMs: number };

/** Attempts on one account from clients that it does not know take turns, in all processes together. */
export interface AccountLine {
  take(account: string): Promise<Turn>;
}

// Both fields of one account are in one key, which expires with the window. An attempt that is rejected is not counted.
const TAKE = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local known = redis.call('HMGET', KEYS[1], 'count', 'next')
local count = tonumber(known[1] or '0')
local at = math.max(now, tonumber(known[2] or '0'))
if at - now > tonumber(ARGV[2]) then return {-1, at - now - tonumber(ARGV[2])} end
local spacing = 0
for index = 3, #ARGV, 2 do
  if count >= tonumber(ARGV[index]) then spacing = tonumber(ARGV[index + 1]) end
end
redis.call('HSET', KEYS[1], 'count', count + 1, 'next', at + spacing)
if count == 0 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {at - now, 0}`;

const GIVE_BACK = `if tonumber(redis.call('HGET', KEYS[1], 'count') or '0') > 0 then redis.call('HINCRBY', KEYS[1], 'count', -1) end
return 1`;

const ARGUMENTS = [WINDOW_MS, LINE_MS_MAX, ...SPACING.flatMap(({ failures, ms }) => [failures, ms])].map(
  String,
);

interface LocalLine {
  count: number;
  nextAtMs: number;
  readonly endsAtMs: number;
}

export function createAccountLine(deps: {
  /** Null: this process is the whole deployment. */
  readonly redis: Pick<Redis, 'run'> | null;
  readonly clock: Clock;
  readonly secrets: Pick<SessionSecrets, 'current'>;
}): AccountLine {
  const { redis, clock } = deps;
  const local = new Map<string, LocalLine>();

  function takeLocally(key: string): Turn {
    const nowMs = clock.nowMs();
    const known = local.get(key);
    const line =
      known !== undefined && known.endsAtMs > nowMs
        ? known
        : { count: 0, nextAtMs: 0, endsAtMs: nowMs + WINDOW_MS };
    const atMs = Math.max(nowMs, line.nextAtMs);
    if (atMs - nowMs > LINE_MS_MAX) return { kind: 'rejected', retryMs: atMs - nowMs - LINE_MS_MAX };
    line.nextAtMs = atMs + (SPACING.findLast(({ failures }) => line.count >= failures)?.ms ?? 0);
    line.count += 1;
    local.delete(key);
    local.set(key, line);
    const [oldest] = local.keys();
    if (local.size > LOCAL_MAX && oldest !== undefined) local.delete(oldest);
    const giveBack = async () => {
      line.count -= 1;
    };
    return { kind: 'turn', waitMs: atMs - nowMs, giveBack };
  }

  return {
    async take(account) {
      const key = `relay:attempts:account:${nameOf(deps.secrets.current, account)}`;
      if (redis === null) return takeLocally(key);
      const reply = await redis.run(['EVAL', TAKE, '1', key, ...ARGUMENTS], key).catch(() => null);
      if (!Array.isArray(reply)) return takeLocally(key);
      const [waitMs, retryMs] = [Number(reply[0]), Number(reply[1])];
      if (waitMs < 0) return { kind: 'rejected', retryMs };
      const giveBack = async () => {
        await redis.run(['EVAL', GIVE_BACK, '1', key], key).catch(() => undefined);
      };
      return { kind: 'turn', waitMs, giveBack };
    },
  };
}
