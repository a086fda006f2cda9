import type pg from 'pg';
import { addSums, copyDay, DAY_MS } from './load-rows.ts';
import type { Organization } from './population.ts';
import { RANGE_DAYS } from './read-speed.ts';

const MINUTES_KEPT_DAYS = 8;

/** Loads so many rows over the days of the range, and the sums that the worker would have written with them. */
export async function loadLedger(
  client: pg.Client,
  organizations: readonly Organization[],
  { rows, fromMs }: { readonly rows: number; readonly fromMs: number },
): Promise<void> {
  const perDay = Math.ceil(rows / RANGE_DAYS);
  for (let day = 0; day < RANGE_DAYS; day += 1) {
    const count = Math.min(perDay, rows - day * perDay);
    if (count > 0) await copyDay(client, organizations, fromMs + day * DAY_MS, count);
  }
  await client.query(`set work_mem = '512MB'`);
  await addSums(client, 'hour', fromMs);
  await addSums(client, 'day', fromMs);
  await addSums(client, 'minute', fromMs + (RANGE_DAYS - MINUTES_KEPT_DAYS) * DAY_MS);
  await client.query('vacuum (analyze) requests, request_rollups, failure_rollups');
}
