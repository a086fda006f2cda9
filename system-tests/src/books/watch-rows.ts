import pg from 'pg';
import { afterMs, until } from '../harness/until.ts';

const ROW_MS_MAX = 20_000;
const EVERY_MS = 100;

export interface RowWatch {
  /** The requests that the client named so, once a row is written; none if there is none in time. */
  of(tag: string): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** One question to the ledger for all who wait for a row. */
export function watchRows(url: string): RowWatch {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  pool.on('error', () => undefined);
  const found = new Map<string, readonly string[]>();
  const wanted = new Set<string>();
  let stopped = false;
  async function look(): Promise<void> {
    const { rows } = await pool.query<{ tag: string; ids: string[] }>(
      `select client_request_id as tag, array_agg(request_id::text) as ids from requests
       where client_request_id = any($1) group by client_request_id`,
      [[...wanted]],
    );
    for (const { tag, ids } of rows) found.set(tag, ids);
  }
  const looking = (async () => {
    while (!stopped) {
      if (wanted.size > 0) await look();
      await afterMs(EVERY_MS);
    }
  })();
  return {
    async of(tag) {
      wanted.add(tag);
      await until(() => found.has(tag), ROW_MS_MAX, EVERY_MS / 2);
      wanted.delete(tag);
      return found.get(tag) ?? [];
    },
    async stop() {
      stopped = true;
      await looking;
      await pool.end();
    },
  };
}
