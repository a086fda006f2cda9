import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import type { Redis } from '../store/redis/redis.ts';
import type { CooldownChannel } from './local-cooldowns.ts';

const KEY = 'relay:{cooldowns}';
const POLL_MS = 250;
const READ_MAX = 10_000;

/** Cooldowns of all gateways: a sorted set by end, written immediately and polled. */
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
        // The store reports its own outage. A missed cooldown costs one rejected upstream request.
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
          deps.log.warn(
            { err: error, endpoint: endpointId },
            'could not announce a cooldown to other processes',
          );
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

/** RESP3 replies with pairs, RESP2 with a flat list. */
function pairsOf(reply: unknown): [string, number][] {
  if (!Array.isArray(reply)) return [];
  const flat: readonly unknown[] = reply.flat();
  const pairs: [string, number][] = [];
  for (let index = 0; index + 1 < flat.length; index += 2)
    pairs.push([String(flat[index]), Number(flat[index + 1])]);
  return pairs;
}
