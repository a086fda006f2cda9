import type { Clock } from '../../kit/clock.ts';
import type { DatabaseHandle, Session } from '../postgres/database-handle.ts';
import type { StoreLog } from '../store-log.ts';

export interface UpkeepOptions {
  readonly database: Pick<DatabaseHandle, 'withSession'>;
  readonly clock: Clock;
  readonly log: StoreLog;
  readonly everyMs?: number;
}

const EVERY_MS = 30_000;
const CHECKPOINT_EVERY_MS = 5 * 60_000;
/** How much of the log a recovery has to replay; about one second. */
const LOG_BYTES_MAX = 32 * 1024 * 1024;
const LOG_BYTES_MIN = 64 * 1024;
const TABLES_MAX = 4;
const TIMEOUT_MS = 5 * 60_000;

/**
 * The work of a PostgreSQL server's background processes: checkpoints, without which the log grows forever and recovery
 * takes ever longer; removal of dead rows; statistics.
 */
export function startUpkeep(options: UpkeepOptions): { stop(): Promise<void> } {
  const { database, clock, log, everyMs = EVERY_MS } = options;
  let checkpointAtMs = clock.nowMs();
  let running: Promise<void> | null = null;

  async function keepUp(): Promise<void> {
    await database.withSession(async (session) => {
      const bytes = await logBytes(session);
      const isDue = clock.nowMs() - checkpointAtMs >= CHECKPOINT_EVERY_MS && bytes >= LOG_BYTES_MIN;
      if (bytes >= LOG_BYTES_MAX || isDue) {
        await session.query('checkpoint');
        checkpointAtMs = clock.nowMs();
      }
    }, TIMEOUT_MS);
    for (const statement of await database.withSession(dueStatements))
      await database.withSession((session) => session.query(statement), TIMEOUT_MS);
  }

  const timer = setInterval(() => {
    running ??= keepUp()
      .catch((error: unknown) => {
        log.warn({ err: error }, 'maintenance of the embedded database failed; will retry');
      })
      .finally(() => {
        running = null;
      });
  }, everyMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

async function logBytes(session: Session): Promise<number> {
  const { rows } = await session.query(
    'select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 as bytes from pg_control_checkpoint()',
  );
  return Number(rows[0]?.['bytes']);
}

/** The thresholds of a server's autovacuum. Ledger rows are rarely updated, so its partitions only need statistics. */
async function dueStatements(session: Session): Promise<string[]> {
  const { rows } = await session.query(
    `select format(
        case when n_dead_tup > 50 + 0.2 * n_live_tup or age(relfrozenxid) > 100000000
          then 'vacuum (analyze) %s' else 'analyze %s' end, relid::regclass) as statement
      from pg_stat_user_tables join pg_class on pg_class.oid = relid
      where n_dead_tup > 50 + 0.2 * n_live_tup
        or n_mod_since_analyze > 50 + 0.1 * n_live_tup
        or age(relfrozenxid) > 100000000
      order by age(relfrozenxid) desc, n_dead_tup desc limit $1`,
    [TABLES_MAX],
  );
  return rows.map((row) => String(row['statement']));
}
