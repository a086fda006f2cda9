import { type Kysely, sql } from 'kysely';
import type { Clock } from '../../kit/clock.ts';
import type { Database } from '../postgres/schema.ts';
import type { StoreLog } from '../store-log.ts';

/** The tables whose rows remember when they were last used. */
export type UsedTable = 'api_keys' | 'credentials';

/** A key or a credential in memory. */
export interface UsedRow {
  readonly organizationId: string;
  readonly id: string;
  /** As far as this process knows. */
  lastUsedAtMs: number;
}

export interface LastUsesOptions {
  readonly table: UsedTable;
  readonly db: Kysely<Database>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: StoreLog;
  readonly flushIntervalMs?: number;
  /** Uses within this time of the last known one are not written: `last_used_at` has this precision. */
  readonly precisionMs?: number;
  /** Rows whose use waits to be written. Beyond this, further rows are not noted. */
  readonly rowsMax?: number;
}

/** When keys or credentials were last used, written in batches and never per request. */
export interface LastUses {
  note(row: UsedRow): void;
  /** Writes what was noted. Never throws: failed writes are retried. */
  flush(): Promise<void>;
  start(): void;
  /** Writes the rest. */
  stop(): Promise<void>;
}

interface Use {
  readonly organizationId: string;
  readonly id: string;
  readonly atMs: number;
  /** How often it was skipped because another transaction held the row. */
  readonly deferred: number;
}

const FLUSH_INTERVAL_MS = 10_000;
const PRECISION_MS = 60_000;
const ROWS_MAX = 50_000;
/** Well below the statement timeout. */
const ROWS_PER_STATEMENT = 5_000;
const DEFERRALS_MAX = 3;

export function createLastUses(options: LastUsesOptions): LastUses {
  const { table, clock, log, precisionMs = PRECISION_MS, rowsMax = ROWS_MAX } = options;
  let uses = new Map<string, Use>();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;

  function keep(use: Use): void {
    const later = uses.get(use.id);
    if (later === undefined && uses.size < rowsMax) uses.set(use.id, use);
  }

  async function write(batch: readonly Use[]): Promise<void> {
    const written = await writeUses(options, batch, precisionMs);
    for (const use of batch) {
      const deferred = use.deferred + 1;
      if (!written.has(use.id) && deferred <= DEFERRALS_MAX) keep({ ...use, deferred });
    }
  }

  async function flushAll(): Promise<void> {
    const pending = [...uses.values()];
    uses = new Map();
    for (let from = 0; from < pending.length; from += ROWS_PER_STATEMENT) {
      const batch = pending.slice(from, from + ROWS_PER_STATEMENT);
      try {
        await write(batch);
      } catch (error) {
        log.warn(
          { err: error, table, rows: pending.length - from },
          'could not write when keys were last used; will retry',
        );
        for (const use of pending.slice(from)) keep(use);
        return;
      }
    }
  }

  async function flush(): Promise<void> {
    await flushing;
    flushing = flushAll().finally(() => {
      flushing = undefined;
    });
    await flushing;
  }

  return {
    note(row) {
      const atMs = clock.nowMs();
      if (atMs - row.lastUsedAtMs < precisionMs) return;
      if (uses.size >= rowsMax && !uses.has(row.id)) return;
      row.lastUsedAtMs = atMs;
      uses.set(row.id, { organizationId: row.organizationId, id: row.id, atMs, deferred: 0 });
    },
    flush,
    start() {
      timer ??= setInterval(() => void flush(), options.flushIntervalMs ?? FLUSH_INTERVAL_MS);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}

/**
 * Returns the rows that need no further writing. Gateways and management write the same rows, so locked rows are skipped
 * rather than waited for, and no two writers can deadlock.
 */
async function writeUses(
  { db, table }: Pick<LastUsesOptions, 'db' | 'table'>,
  batch: readonly Use[],
  precisionMs: number,
): Promise<ReadonlySet<string>> {
  const stored = sql.table(table);
  // A key that another version has seen used was not first used now.
  const first = sql`first_used_at = case when used.last_used_at is null then used.at else entry.first_used_at end,`;
  const { rows } = await sql<{ id: string }>`
    with used as (
      select entry.organization_id, entry.id, use.at, entry.last_used_at
      from unnest(
        ${batch.map(({ organizationId }) => organizationId)}::uuid[],
        ${batch.map(({ id }) => id)}::uuid[],
        ${batch.map(({ atMs }) => new Date(atMs).toISOString())}::timestamptz[]
      ) as use (organization_id, id, at)
      join ${stored} entry on entry.organization_id = use.organization_id and entry.id = use.id
      for no key update of entry skip locked
    ), written as (
      update ${stored} entry set ${table === 'api_keys' ? first : sql``} last_used_at = used.at
      from used
      where entry.organization_id = used.organization_id and entry.id = used.id
        and (used.last_used_at is null or used.last_used_at < used.at - make_interval(secs => ${precisionMs / 2_000}))
    )
    select id from used`.execute(db);
  return new Set(rows.map(({ id }) => id));
}
