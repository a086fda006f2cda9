import type { Kysely } from 'kysely';
import type { EpochDeps } from '../admission/redis/epochs.ts';
import { entryIn } from '../kit/entry-in.ts';
import type { Log } from '../kit/log.ts';
import { raiseShardEpoch, readShardEpoch } from '../store/ledger/windows/shard-epochs.ts';
import type { Database } from '../store/postgres/schema.ts';
import type { Redis } from '../store/redis/redis.ts';
import { prefixOf } from '../store/redis/shards.ts';
import { createSharedReads } from '../store/shared-reads.ts';

/** What the Redis engine needs to know which state it may believe. */
export function epochParts(
  {
    db,
    redis,
    log,
  }: { readonly db: Kysely<Database>; readonly redis: Pick<Redis, 'demandOwn'>; readonly log: Log },
  restarted: EpochDeps['restarted'],
): EpochDeps {
  // Many shards are lost together.
  const read = createSharedReads(() => organizationsByShard(db));
  return {
    store: {
      read: (shard) => readShardEpoch(db, shard),
      raise: (shard, from, to) => raiseShardEpoch(db, shard, from, to),
    },
    organizations: async (prefix) => (await read('all')).get(prefix) ?? [],
    restarted,
    random: Math.random,
    demandOwn: redis.demandOwn,
    log,
  };
}

async function organizationsByShard(db: Kysely<Database>): Promise<Map<string, string[]>> {
  const shards = new Map<string, string[]>();
  for (const { id } of await db.selectFrom('organizations').select('id').execute())
    entryIn(shards, prefixOf(id), () => []).push(id);
  return shards;
}
