import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import type { Redis } from '../store/redis/redis.ts';
import type { CooldownChannel } from './local-cooldowns.ts';

const KEY = 'relay:{cooldowns}';
const POLL_MS = 250;
const READ_MAX = 10_000;

/** Cooldowns as every gateway of the fleet sees them: a sorted set by end, written at once and read often. */
export function createSharedCooldowns(deps: { redis: Redis; clock: Clock; log: Log }): CooldownChannel & {
  start(): void;
  stop(): void;
} {
  const listeners: ((endpointId: string, untilMs: number) => void)[] = [];
  let timer: NodeJS.Timeout | null = null;

  async function poll(): Promise<void> {
    const now = String(deps.clock.nowMs());
    const reply = await deps.redis.run(
      ['ZRANGE', KEY, now, '+inf', 'BYSCORE', 'LIMIT', '0', String(READ_MAX), 'WITHSCORES'],
      KEY,
    );
    for (const [endpointId, untilMs] of pairsOf(reply))
      for (const tell of listeners) tell(endpointId, untilMs);
    await deps.redis.run(['ZREMRANGEBYSCORE', KEY, '-inf', now], KEY);
  }

  function schedule(): void {
    timer = setTimeout(() => {
      poll()
        // Redis being away is said elsewhere; a cooldown not heard of costs one refused request.
        .catch(() => undefined)
        .finally(() => {
          if (timer !== null) schedule();
        });
    }, POLL_MS);
    timer.unref();
  }

  return {
    announce(endpointId, untilMs) {
      deps.redis
        .run(['ZADD', KEY, 'GT', String(Math.ceil(untilMs)), endpointId], KEY)
        .catch((error: unknown) => {
          deps.log.warn({ err: error, endpoint: endpointId }, 'a cooldown was not announced');
        });
    },
    subscribe: (listener) => void listeners.push(listener),
    start: () => schedule(),
    stop() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}

function pairsOf(reply: unknown): [string, number][] {
  if (!Array.isArray(reply)) return [];
  if (Array.isArray(reply[0])) return (reply as [string, number][]).map(([id, score]) => [id, Number(score)]);
  const pairs: [string, number][] = [];
  for (let index = 0; index + 1 < reply.length; index += 2)
    pairs.push([String(reply[index]), Number(reply[index + 1])]);
  return pairs;
}
