import { type Kysely, sql } from 'kysely';
import type { Database } from './schema.ts';

/** What the server does with data and statements, as a connection of the pool sees it. */
export interface PostgresSettings {
  /** Such as 150008. */
  readonly version: number;
  /** It follows another server and takes no writes. */
  readonly isReplica: boolean;
  /** Settings that are off and protect what was committed. */
  readonly unsafe: readonly string[];
  /** Timeouts that no session of the pool has. */
  readonly missingTimeouts: readonly string[];
}

const TIMEOUTS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
const DURABILITY = ['fsync', 'full_page_writes', 'synchronous_commit'];

export async function readPostgresSettings(db: Kysely<Database>): Promise<PostgresSettings> {
  const { rows } = await sql<{ name: string; setting: string }>`
    select name, setting from pg_settings where name = any(${['server_version_num', ...TIMEOUTS, ...DURABILITY]})
    union all select 'is_replica', pg_is_in_recovery()::text`.execute(db);
  const values = new Map(rows.map(({ name, setting }) => [name, setting]));
  return {
    version: Number(values.get('server_version_num')),
    isReplica: values.get('is_replica') === 'true',
    unsafe: DURABILITY.filter((name) => values.get(name) === 'off'),
    missingTimeouts: TIMEOUTS.filter((name) => values.get(name) === '0'),
  };
}
