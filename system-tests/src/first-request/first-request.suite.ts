import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { headers } from '@relay/contract';
import OpenAI from 'openai';
import { createLane, type LaneIds } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { startRefused } from '../harness/relay-process.ts';
import { severalProcesses, storeServers } from '../harness/stores.ts';

// From an empty deployment to a completion, as an operator and an application do it.

let deployment: Deployment;
let lane: LaneIds;
let checks = 0;
const ask = { model: 'first-lane', messages: [{ role: 'user' as const, content: 'Say hello.' }] };

function client(apiKey = deployment.apiToken): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${deployment.url}/v1`, maxRetries: 0 });
}

before(async () => {
  // Two processes start concurrently on an empty database: both must come up.
  deployment = await startDeployment({ processes: 2 });
});
after(async () => {
  await deployment.stop();
  reportFigures({ checks });
});

describe('a new deployment', () => {
  severalProcesses.it('comes up twice at once on an empty database', () => {
    assert.equal(deployment.processes.length, 2);
    checks += 1;
  });

  it('is configured over the management interface', async () => {
    const setup = { baseUrl: deployment.provider.baseUrl, upstreamModel: 'gpt-4o' };
    lane = await createLane(deployment.admin, { name: 'First lane', endpoints: [setup] });
    assert.ok(lane.laneId);
    checks += 1;
  });

  it('gives the openai client a completion through the lane, with true headers', async () => {
    const { data, response } = await client().chat.completions.create(ask).withResponse();
    assert.ok(data.choices[0]?.message.content);
    const header = (name: string) => response.headers.get(name);
    assert.equal(header(headers.selectedEndpoint), 'First lane 1');
    assert.equal(header(headers.selectedEndpointId), lane.endpointIds[0]);
    assert.equal(header(headers.selectedProviderId), lane.providerIds[0]);
    assert.equal(header(headers.selectedUpstreamModel), 'gpt-4o');
    assert.equal(header(headers.waitMs), '0');
    assert.equal(header(headers.fallbackCount), '0');
    assert.ok(Number(header(headers.estimatedInputTokens)) > 0);
    assert.ok(Number(header(headers.estimatedOutputTokens)) > 0);
    assert.equal(Number(header(headers.actualInputTokens)), data.usage?.prompt_tokens);
    assert.equal(Number(header(headers.actualOutputTokens)), data.usage?.completion_tokens);
    assert.equal(Number(header(headers.actualTotalTokens)), data.usage?.total_tokens);
    assert.match(header(headers.requestId) ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/);
    assert.equal((data as { _request_id?: string })._request_id, header(headers.requestId));
    checks += 1;
  });

  it('sends the provider its own credential and model, and nothing of the client', () => {
    const [entry] = deployment.provider.log;
    assert.equal(entry?.key, 'sk-upstream');
    assert.equal(entry?.model, 'gpt-4o');
    assert.deepEqual(entry?.violations, []);
    checks += 1;
  });

  it('lists models, every one of them callable', async () => {
    const models = await client().models.list();
    assert.deepEqual(
      models.data.map(({ id }) => id),
      ['gpt-4o', 'first-lane'],
    );
    for (const { id } of models.data) {
      const answer = await client().chat.completions.create({ ...ask, model: id });
      assert.ok(answer.id);
    }
    checks += 1;
  });

  severalProcesses.it('makes a change visible to the other process within two seconds', async () => {
    const other = new OpenAI({
      apiKey: deployment.apiToken,
      baseURL: `${deployment.processes[1]?.url}/v1`,
      maxRetries: 40,
    });
    const deadlineMs = Date.now() + 2_000;
    for (;;) {
      const answer = await other.chat.completions
        .create(ask, { maxRetries: 0 })
        .catch((error: unknown) => error);
      if (!(answer instanceof Error)) break;
      assert.ok(Date.now() < deadlineMs, String(answer));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    checks += 1;
  });
});

describe('tokens', () => {
  const cases: [string, () => string | null, 'inference' | 'management', string][] = [
    ['no token on inference', () => null, 'inference', 'missing_api_key'],
    ['no token on management', () => null, 'management', 'missing_api_key'],
    ['a wrong token on inference', () => 'wrong', 'inference', 'invalid_api_key'],
    ['a wrong token on management', () => 'wrong', 'management', 'invalid_api_key'],
    ['the admin token on inference', () => deployment.adminToken, 'inference', 'invalid_api_key'],
    ['the API token on management', () => deployment.apiToken, 'management', 'invalid_api_key'],
  ];
  for (const [what, token, door, code] of cases) {
    it(`${what} gets 401 ${code} in the error shape`, async () => {
      const path = door === 'inference' ? '/v1/models' : '/api/relay/providers';
      const value = token();
      const response = await fetch(deployment.url + path, {
        headers: value === null ? {} : { authorization: `Bearer ${value}` },
      });
      assert.equal(response.status, 401);
      const { error } = (await response.json()) as { error: Record<string, unknown> };
      assert.equal(error['code'], code);
      assert.equal(error['type'], 'authentication_error');
      assert.equal(error['request_id'], response.headers.get('x-request-id'));
      const page = await fetch(String(error['doc_url']));
      assert.equal(page.status, 200);
      checks += 1;
    });
  }
});

describe('start', () => {
  const refused: [string, Record<string, string>, RegExp[]][] = [
    [
      'names every fault at once',
      { DATABASE_URL: 'mysql://x', RELAY_MODE: 'other', RELAY_API_TOKEN: 'short' },
      [/DATABASE_URL/, /RELAY_MODE/, /RELAY_API_TOKEN/],
    ],
    [
      'refuses equal tokens',
      { RELAY_API_TOKEN: 'k'.repeat(5) + 'abcdefghijklmnopqrstuvwxyz012345' },
      [/must differ/],
    ],
    [
      'refuses a placeholder',
      { RELAY_ADMIN_TOKEN: 'change-me-change-me-change-me-change-me' },
      [/placeholder/],
    ],
    ['refuses a weak master key', { RELAY_MASTER_KEY: 'A'.repeat(43) }, [/RELAY_MASTER_KEY/]],
  ];
  for (const [what, env, expected] of refused) {
    it(what, async () => {
      const equal =
        what === 'refuses equal tokens' ? { RELAY_ADMIN_TOKEN: env['RELAY_API_TOKEN'] ?? '' } : {};
      const { code, stderr } = await startRefused({
        env: { ...deployment.env, ...env, ...equal },
        ...(deployment.dataDirectory === null ? {} : { dataDirectory: deployment.dataDirectory }),
      });
      assert.equal(code, 1);
      for (const pattern of expected) assert.match(stderr, pattern);
      assert.doesNotMatch(stderr, /\n\s+at /);
      checks += 1;
    });
  }
});

storeServers.describe('when PostgreSQL is killed', () => {
  before(() => deployment.postgres.kill());

  it('inference goes on from memory', async () => {
    const answer = await client().chat.completions.create(ask);
    assert.ok(answer.id);
    checks += 1;
  });
  it('management answers 503 and not 401', async () => {
    const { status, body } = await deployment.admin.call('GET', '/api/relay/providers');
    assert.equal(status, 503);
    assert.equal((body as { error: { code: string } }).error.code, 'store_unavailable');
    checks += 1;
  });
  it('probes answer from memory', async () => {
    for (const path of ['/livez', '/readyz', '/healthz']) {
      assert.equal((await fetch(deployment.url + path)).status, 200);
    }
    checks += 1;
  });
  it('management comes back with it', async () => {
    await deployment.postgres.start();
    const deadlineMs = Date.now() + 10_000;
    for (;;) {
      const { status } = await deployment.admin.call('GET', '/api/relay/providers');
      if (status === 200) break;
      assert.ok(Date.now() < deadlineMs, `still ${status}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    checks += 1;
  });
});

describe('SIGTERM', () => {
  it('finishes a stream under way, refuses new work with 503, and exits 0', async () => {
    await deployment.beside({}, async (process) => {
      const openai = new OpenAI({ apiKey: deployment.apiToken, baseURL: `${process.url}/v1`, maxRetries: 0 });
      const slow = { ...ask, stream: true as const, sim: { frames: 20, frameDelayMs: 50 } };
      const stream = await openai.chat.completions.create(slow);
      let frames = 0;
      let stopped: Promise<number | null> | null = null;
      let refusal: unknown = null;
      for await (const _chunk of stream) {
        frames += 1;
        if (frames !== 2) continue;
        stopped = process.stop();
        while ((await fetch(`${process.url}/readyz`)).status !== 503);
        refusal = await openai.chat.completions.create(ask).catch((error: unknown) => error);
      }
      assert.ok(frames >= 20);
      assert.ok(refusal instanceof OpenAI.APIError);
      assert.equal(refusal.status, 503);
      assert.equal(refusal.code, 'draining');
      assert.equal(await stopped, 0);
    });
    checks += 1;
  });
});
