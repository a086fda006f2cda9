import { openLedgerView } from '../harness/ledger-view.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/**
 * Copies of recorded requests, spread evenly over the last hours. They stay within the day, whose partition exists.
 */
export async function addRequests(databaseUrl: string, count: number): Promise<void> {
  const nowMs = Date.now();
  const fromMs = Math.max(nowMs - 3 * HOUR_MS, nowMs - (nowMs % DAY_MS));
  const ledger = openLedgerView(databaseUrl);
  try {
    const columns = await ledger.query<{ name: string }>(
      "select column_name as name from information_schema.columns where table_name = 'requests' order by 1",
    );
    const names = columns.map(({ name }) => name).filter((name) => name !== 'request_id');
    await ledger.query(`
      with recorded as (
        select *, row_number() over (order by request_id) - 1 as place, count(*) over () as places from requests
      ), copies as (
        select number, md5(number::text) as random,
          lpad(to_hex((${fromMs} + number * ${(nowMs - fromMs) / count})::bigint), 12, '0') as moment
        from generate_series(0, ${count - 1}) as number
      )
      insert into requests (request_id, ${names.join(', ')})
      select format('%s-%s-7%s-8%s-%s', substr(moment, 1, 8), substr(moment, 9, 4), substr(random, 1, 3),
        substr(random, 4, 3), substr(random, 7, 12))::uuid, ${names.join(', ')}
      from copies join recorded on recorded.place = copies.number % recorded.places`);
    await ledger.query('analyze requests');
  } finally {
    await ledger.close();
  }
}
