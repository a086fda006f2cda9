import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type StartedServer, start } from '@relay/server';
import { freePort } from '@relay/testbed';
import { type Api, createApi, dataOf } from '../api/client.ts';
import { processSurroundings } from '../kit/surroundings.ts';
import { createDemoObjects, moveDemoObjects } from './demo-objects.ts';
import type { CreatedObjects } from './demo-state.ts';

type Management = Api['management'];

const HERE = { provider: 'http://127.0.0.1:1/v1', guardrail: 'http://127.0.0.1:2/judge' };
const THERE = { provider: 'http://127.0.0.1:3/v1', guardrail: 'http://127.0.0.1:4/judge' };
const WRITES_MAX = 100;

let directory: string;
let server: StartedServer;
let api: Management;
let created: CreatedObjects;

/** A client that fails after one write. */
function cutOff(whole: Management): Management {
  let writes = 0;
  const once = (call: (...args: never[]) => unknown) =>
    function limited(...args: never[]): unknown {
      writes += 1;
      if (writes > 1) throw new CutOffError();
      return call(...args);
    };
  return { ...whole, POST: once(whole.POST), PUT: once(whole.PUT) } as Management;
}
class CutOffError extends Error {}

async function counts(): Promise<Record<string, number>> {
  const paths = [
    '/api/relay/providers',
    '/api/relay/credentials',
    '/api/relay/endpoints',
    '/api/relay/pricing-policies',
    '/api/relay/routing-lanes',
    '/api/relay/lane-memberships',
    '/api/relay/guardrails',
    '/api/relay/limit-policies',
  ] as const;
  const found: Record<string, number> = {};
  for (const path of paths) found[path.slice('/api/relay/'.length)] = (await dataOf(api.GET(path))).length;
  return found;
}

describe("the demo's resources", () => {
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'relay-demo-'));
    const source = { RELAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.1/32', RELAY_LOG_LEVEL: 'silent' };
    server = await start({ source, directory: join(directory, 'data'), port: await freePort() });
    const tokens = { management: server.tokens?.admin ?? '', inference: null };
    api = createApi(processSurroundings(), { server: server.url, contextName: null, tokens }).management;
  });
  after(async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('are created once, wherever an earlier start was interrupted', async () => {
    let cuts = 0;
    for (; cuts < WRITES_MAX; cuts += 1) {
      const done = await createDemoObjects(cutOff(api), HERE).catch((error: unknown) => {
        if (error instanceof CutOffError) return null;
        throw error;
      });
      if (done !== null) break;
      // Bindings are always written as a whole, so from here on one write is not enough.
      if ((await counts())['guardrails'] === 1) break;
    }
    created = await createDemoObjects(api, HERE);
    assert.ok(cuts > 10, `${cuts} cuts`);
    assert.deepEqual(await counts(), {
      providers: 2,
      credentials: 2,
      endpoints: 2,
      'pricing-policies': 2,
      'routing-lanes': 2,
      'lane-memberships': 4,
      guardrails: 1,
      'limit-policies': 4,
    });
    const params = { path: { guardrail_id: created.guardrail_id } };
    const detail = await dataOf(api.GET('/api/relay/guardrails/{guardrail_id}', { params }));
    assert.equal(detail.guardrail.enabled, true);
    assert.equal(detail.bindings.length, 1);
  });

  it('follow the simulated provider to another port', async () => {
    await moveDemoObjects(api, created, THERE);
    const providers = await dataOf(api.GET('/api/relay/providers'));
    for (const { base_url, has_credential } of providers)
      assert.deepEqual({ base_url, has_credential }, { base_url: THERE.provider, has_credential: true });
    const [guardrail] = await dataOf(api.GET('/api/relay/guardrails'));
    assert.equal(guardrail?.base_url, THERE.guardrail);
  });
});
