import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type ProviderSim, startProviderSim } from '@relay/provider-sim';
import { type StartedServer, start } from '@relay/server';
import { freePort } from '@relay/testbed';
import { type Api, createApi, dataOf } from '../api/client.ts';
import { processSurroundings } from '../kit/surroundings.ts';
import { setUpSources } from '../sources/set-up-sources.ts';
import { daysBetween, exportDay } from './export-day.ts';

const REQUESTS = 25;
const DAY_MS = 86_400_000;

let directory: string;
let server: StartedServer;
let provider: ProviderSim;
let api: Api['management'];

async function recorded() {
  return (await dataOf(api.GET('/api/relay/requests', { params: { query: { limit: 1_000 } } }))).data;
}

function made(name: string): string {
  return mkdtempSync(join(directory, `${name}-`));
}

describe('exported days', () => {
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'relay-export-'));
    provider = await startProviderSim({ models: [{ id: 'one' }] });
    const source = { RELAY_LOG_LEVEL: 'silent' };
    server = await start({ source, directory: join(directory, 'data'), port: await freePort() });
    const tokens = { management: server.tokens?.admin ?? '', inference: null };
    api = createApi(processSurroundings(), { server: server.url, contextName: null, tokens }).management;
    const openai = { slug: 'openai', name: 'OpenAI', seen: 'OPENAI_API_KEY', secret: 'sk-upstream' };
    await setUpSources(api, [{ ...openai, baseUrl: provider.baseUrl, choose: (models) => models }]);
    for (let sent = 0; sent < REQUESTS; sent += 1) {
      const response = await fetch(`${server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${server.tokens?.api}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'default', messages: [{ role: 'user', content: 'Hello' }] }),
      });
      assert.equal(response.status, 200, await response.text());
    }
    // The journal writes rows in batches.
    while ((await recorded()).length < REQUESTS) await new Promise((resolve) => setTimeout(resolve, 20));
  });
  after(async () => {
    await server?.stop();
    await provider?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('have every request of the log once, as the API has it, over pages and days', async () => {
    const to = made('whole');
    const rows = await recorded();
    const days = daysBetween(Date.now() - DAY_MS, Date.now());
    for (const day of days) await exportDay(api, { directory: to, day, partId: 'a', pageMax: 10 });
    assert.deepEqual(readdirSync(to).sort(), days.map((day) => `requests-${day}.jsonl`).sort());
    const lines = days.toReversed().flatMap((day) =>
      readFileSync(join(to, `requests-${day}.jsonl`), 'utf8')
        .split('\n')
        .slice(0, -1),
    );
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      rows,
    );
    assert.match(String(JSON.parse(lines[0] ?? '').cost_usd), /^(null|\d+(\.\d+)?)$/);
  });

  it('that fail in the middle leave the file of before, and nothing else', async () => {
    const to = made('cut');
    const day = new Date(rowsAtMs((await recorded())[0])).toISOString().slice(0, 10);
    const path = join(to, `requests-${day}.jsonl`);
    writeFileSync(path, 'from before\n');
    let pages = 0;
    const cutOff = (call: (...args: never[]) => unknown) =>
      function limited(...args: never[]): unknown {
        pages += 1;
        if (pages === 2) throw new Error('cut off');
        return call(...args);
      };
    const cut = { ...api, GET: cutOff(api.GET) } as typeof api;
    await assert.rejects(exportDay(cut, { directory: to, day, partId: 'a', pageMax: 5 }), /cut off/);
    assert.deepEqual(readdirSync(to), [`requests-${day}.jsonl`]);
    assert.equal(readFileSync(path, 'utf8'), 'from before\n');
  });

  it('are written again until a day after their end, and then kept', async () => {
    const to = made('again');
    const [day] = daysBetween(Date.now() - 5 * DAY_MS, Date.now());
    assert.ok(day !== undefined);
    const once = () => exportDay(api, { directory: to, day, partId: 'a' });
    assert.equal((await once()).state, 'written');
    assert.equal((await once()).state, 'kept');
    const tooEarly = new Date(Date.parse(day) + 1.5 * DAY_MS);
    utimesSync(join(to, `requests-${day}.jsonl`), tooEarly, tooEarly);
    assert.equal((await once()).state, 'written');
  });
});

function rowsAtMs(row: { readonly arrived_at: string } | undefined): number {
  return Date.parse(row?.arrived_at ?? '');
}
