import { afterMs } from '../harness/until.ts';
import type { Ground, Site } from './site.ts';

const ROWS_MS_MAX = 20_000;

/** Every request that reached the raw provider has one row, whatever the provider answered, and the log can be read. */
export async function compareRows(
  { raw, accounts, client, selfHosted }: Site,
  { inference }: Ground,
): Promise<{ lost: number; duplicated: number }> {
  const endMs = performance.now() + ROWS_MS_MAX;
  for (;;) {
    const rows = await accounts.query(
      'select client_request_id as tag, count(*)::int as count from requests where organization_id = $1 and client_request_id is not null group by 1',
      [inference.organizationId],
    );
    const counts = new Map(rows.map(({ tag, count }) => [String(tag), Number(count)]));
    const lost = [...raw.seen].filter((tag) => !counts.has(tag));
    const duplicated = [...counts.values()].filter((count) => count > 1).length;
    if (lost.length === 0 || performance.now() > endMs) {
      for (const tag of lost.slice(0, 5)) process.stdout.write(`no row for ${tag}\n`);
      raw.forget();
      return {
        lost: lost.length + (await unreadablePages(client, selfHosted.url, inference.key)),
        duplicated,
      };
    }
    await afterMs(100);
  }
}

/** Pages of the request log that are not answered with 200. */
async function unreadablePages(client: Site['client'], url: string, key: string): Promise<number> {
  let cursor: string | null = '';
  while (cursor !== null) {
    const path: string = `/api/relay/requests?limit=1000${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const answer = await client.ask(url, {
      method: 'GET',
      path,
      headers: { authorization: `Bearer ${key}` },
    });
    if (answer.status !== 200) {
      process.stdout.write(
        `the request log answered ${answer.status}: ${answer.body.toString('utf8', 0, 300)}\n`,
      );
      return 1;
    }
    cursor = (JSON.parse(answer.body.toString()) as { next_cursor: string | null }).next_cursor;
  }
  return 0;
}
