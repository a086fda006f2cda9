import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import { createLane } from '../harness/admin-client.ts';
import { reportFigures } from '../harness/figures.ts';
import { readRequestLog } from '../harness/request-log.ts';
import { until } from '../harness/until.ts';
import { type Cell, cells } from './cells.ts';
import { checkCell } from './check-cell.ts';
import { newKey, tellsOf } from './key-quotes.ts';
import { runCell } from './run-cell.ts';
import { MODEL, type Site, startSite } from './site.ts';

// Every way in which a provider fails, streaming and not, guarded and not, by the candidates that are left. Its errors show the key that
// it was sent, and its headers lead elsewhere.

const AT_ONCE = 10;
const CELLS_MIN = 200;

let site: Site;
let wrong = 0;
let leaks = 0;
let sent = 0;

before(async () => {
  site = await startSite(cells);
});
after(async () => {
  await site.stop();
  reportFigures({ cells: cells.length, wrong, leaks });
});

async function judge(cell: Cell): Promise<void> {
  sent += 1;
  try {
    const seen = await runCell(site, cell);
    leaks += seen.leaks.length;
    assert.deepEqual(seen.leaks, []);
    checkCell(site, cell, seen);
  } catch (error) {
    wrong += 1;
    throw error;
  }
}

describe('the table', () => {
  it(`has at least ${CELLS_MIN} cells`, () => assert.ok(cells.length >= CELLS_MIN, `${cells.length}`));
});

describe('a provider that fails', { concurrency: AT_ONCE }, () => {
  for (const cell of cells) it(cell.name, () => judge(cell));
});

describe('a client of OpenAI', () => {
  it('gets 502 for a redirect, and sends nothing to where it leads', async () => {
    const { deployment, providers, elsewhere } = site;
    const secret = newKey();
    const endpoints = [{ baseUrl: providers.first.baseUrl, upstreamModel: MODEL, secret }];
    await createLane(deployment.admin, { name: 'redirected', endpoints });
    providers.first.script({
      match: { key: secret },
      fault: { status: 307, redirectTo: `${elsewhere.baseUrl}/chat/completions` },
      persistent: true,
    });
    const client = new OpenAI({
      apiKey: deployment.apiToken,
      baseURL: `${deployment.url}/v1`,
      maxRetries: 0,
    });
    sent += 1;
    const request = { model: 'redirected', messages: [{ role: 'user' as const, content: 'A secret plan' }] };
    const error: unknown = await client.chat.completions.create(request).then(
      () => assert.fail('the redirect was followed'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof OpenAI.InternalServerError, String(error));
    assert.deepEqual([error.status, error.code], [502, 'upstream_redirected']);
  });
});

describe('after all of it', () => {
  it('no third party has heard of a request', () => {
    leaks += site.elsewhere.log.length;
    assert.deepEqual(
      site.elsewhere.log.map(({ path }) => path),
      [],
    );
  });

  it('no key is in the log of a process', () => {
    const logged = site.deployment.processes.map(({ logs }) => JSON.stringify(logs)).join('');
    const keys = [...site.places.values()].flatMap(({ endpoints }) => [
      endpoints.first.key,
      endpoints.second.key,
    ]);
    const found = keys.filter((key) => tellsOf(logged, key));
    leaks += found.length;
    assert.deepEqual(found, []);
  });

  it('every request has one row', async () => {
    let rows = 0;
    await until(async () => {
      rows = (await readRequestLog(site.deployment.admin)).length;
      return rows >= sent;
    }, 10_000);
    assert.equal(rows, sent);
  });
});
