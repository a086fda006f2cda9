import type { StoreHealth } from '../store-health.ts';
import type { DatabaseHandle } from './database-handle.ts';

const EVERY_MS = 5_000;
/** Exporting a snapshot creates a small file next to the data until the statement ends: it fails when the disk is full, and leaves nothing. */
const PROBE = {
  name: 'probe_writes',
  text: "select current_setting('transaction_read_only') as read_only, pg_export_snapshot()",
  values: [],
};

/** Asks every 5 seconds whether PostgreSQL accepts writes. Calls that fail are noted when they do. */
export function watchPostgresWrites(
  database: Pick<DatabaseHandle, 'query'>,
  health: Pick<StoreHealth, 'failed' | 'works'>,
): { stop(): void } {
  let isLooking = false;

  async function look(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    await lookAtWrites(database, health);
    isLooking = false;
  }
  const timer = setInterval(() => void look(), EVERY_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** Never fails. */
export async function lookAtWrites(
  database: Pick<DatabaseHandle, 'query'>,
  health: Pick<StoreHealth, 'failed' | 'works'>,
): Promise<void> {
  try {
    const { rows } = await database.query<{ read_only: string }>(PROBE);
    health.works('read');
    if (rows[0]?.read_only === 'on') health.failed('write', new Error('transaction_read_only is on'));
    else health.works('write');
  } catch {
    // The connection has noted why. A server that does not allow the function is judged by other calls.
  }
}
