import { type Kysely, sql } from 'kysely';
import type { Database } from '../../postgres/schema.ts';

export interface ShardEpoch {
  /** 0: the shard was never used. */
  readonly epoch: number;
  /** Raised so recently that the process which raised it may not have started it in Redis yet. */
  readonly isRecent: boolean;
}

const RECENT_S = 10;

export async function readShardEpoch(db: Kysely<Database>, shard: number): Promise<ShardEpoch> {
  const { rows } = await sql<{ epoch: string; recent: boolean }>`
    select epoch, raised_at > now() - make_interval(secs => ${RECENT_S}) as recent
    from shard_epochs where shard = ${shard}`.execute(db);
  const [row] = rows;
  return row === undefined
    ? { epoch: 0, isRecent: false }
    : { epoch: Number(row.epoch), isRecent: row.recent };
}

/** Raises the epoch, unless another process has raised it since it was read. Returns whether it did. */
export async function raiseShardEpoch(
  db: Kysely<Database>,
  shard: number,
  from: number,
  to: number,
): Promise<boolean> {
  const { rows } = await sql<{ epoch: string }>`
    insert into shard_epochs (shard, epoch) values (${shard}, ${to})
    on conflict (shard) do update set epoch = excluded.epoch, raised_at = now()
    where shard_epochs.epoch = ${from}
    returning epoch`.execute(db);
  return rows.length > 0;
}
