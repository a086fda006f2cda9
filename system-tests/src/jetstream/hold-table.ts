import pg from 'pg';
import type { LedgerView } from '../harness/ledger-view.ts';
import { until } from '../harness/until.ts';

const BLOCKED_MS_MAX = 30_000;

/** A lock on a table, which holds up a worker at a chosen statement. */
export interface HeldTable {
  /** Whether a worker's statement of this form waits for the lock in time. */
  isMet(statement: string): Promise<boolean>;
  /** Safe to call twice. */
  release(): Promise<void>;
}

export async function holdTable(url: string, table: string, ledger: LedgerView): Promise<HeldTable> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('begin');
  await client.query(`lock table ${table} in exclusive mode`);
  let released: Promise<void> | null = null;
  return {
    isMet: (statement) =>
      until(async () => {
        const waiting = await ledger.query(
          `select 1 from pg_stat_activity where application_name = 'relay-worker'
           and wait_event_type = 'Lock' and query like '${statement}'`,
        );
        return waiting.length > 0;
      }, BLOCKED_MS_MAX),
    release: () => (released ??= client.query('rollback').then(() => client.end())),
  };
}
