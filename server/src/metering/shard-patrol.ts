import type { Redis } from '../store/redis/redis.ts';
import { prefixOfShard, SHARDS } from '../store/redis/shards.ts';
import { isIdleShard } from './compare-windows.ts';

const EVERY_MS = 1_000;
const SHARDS_PER_LOOK = 4;
const SHARDS_AT_ONCE = 32;

/** Finds shards with leases or usage that the index of shards in use has lost. */
export interface ShardPatrol {
  /** Resolves after the first look at all shards. */
  readonly firstRound: Promise<void>;
  stop(): Promise<void>;
}

/** Notes every shard that is not idle as used. Rejects when Redis does not answer for one. */
export async function noteBusyShards(redis: Redis): Promise<void> {
  for (let first = 0; first < SHARDS; first += SHARDS_AT_ONCE) {
    const prefixes = Array.from({ length: SHARDS_AT_ONCE }, (_, offset) => prefixOfShard(first + offset));
    const idle = await Promise.all(prefixes.map((prefix) => isIdleShard(redis, prefix)));
    for (const [index, prefix] of prefixes.entries()) if (idle[index] === false) redis.shards.use(prefix);
  }
}

/**
 * Looks at every shard: at all of them at the start, and then at a few each second, all within five minutes. A shard
 * that is not idle is noted as used, so that it is swept and read. The index misses one when it was not noted because its node was
 * away, or when its usage could not be written for longer than the index remembers.
 */
export function startShardPatrol({ redis }: { readonly redis: Redis }): ShardPatrol {
  let next = 0;
  let stopping = false;

  async function look(count: number): Promise<void> {
    const prefixes = Array.from({ length: count }, (_, offset) => prefixOfShard((next + offset) % SHARDS));
    next = (next + count) % SHARDS;
    await Promise.all(
      prefixes.map(async (prefix) => {
        // A shard that does not answer is looked at in the next round.
        const isIdle = await isIdleShard(redis, prefix).catch(() => true);
        if (!isIdle) redis.shards.use(prefix);
      }),
    );
  }

  async function lookAtAll(): Promise<void> {
    for (let seen = 0; seen < SHARDS && !stopping; seen += SHARDS_AT_ONCE) await look(SHARDS_AT_ONCE);
  }

  const firstRound = lookAtAll();
  let looking = firstRound;
  const timer = setInterval(() => {
    looking = looking.then(() => look(SHARDS_PER_LOOK));
  }, EVERY_MS);
  timer.unref();
  return {
    firstRound,
    async stop() {
      stopping = true;
      clearInterval(timer);
      await looking;
    },
  };
}
