import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type GuardrailCreate, type GuardrailTestResult, routeAccess } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { type ManagementFixture, startManagement } from '../fixture.ts';

const SECRET = 'hx7-Qm2PzL9vTrW4-secret';

/** A service whose response depends on the path, and which echoes the request. */
async function startService(): Promise<Server> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const [, status = '200', verdict] = (request.url ?? '').split('/');
      if (verdict === 'hang') return;
      const sent = JSON.parse(Buffer.concat(chunks).toString()) as unknown;
      const padding = verdict === 'large' ? 'x'.repeat(30_000) : '';
      const said = { verdict, sent, method: request.method, key: request.headers.authorization, padding };
      response.writeHead(Number(status), { 'content-type': 'application/json' }).end(JSON.stringify(said));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describe('a guardrail that is tested with a sample', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let service: Server;
  let url: string;

  before(async () => {
    service = await startService();
    url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    database = await freshDatabase();
    const egress = { allowedCidrs: ['127.0.0.1/32'], connectTimeoutMs: 1_000 };
    room = await startManagement(database.url, { egress });
  });
  after(async () => {
    await room.close();
    await database.drop();
    service.closeAllConnections();
    service.close();
  });

  async function tested(
    over: Partial<GuardrailCreate>,
    stage?: 'post_response',
  ): Promise<GuardrailTestResult> {
    const made = { name: 'G', base_url: `${url}/200/allow`, ...over };
    const { id } = (await room.call('createGuardrail', room.acme, { body: made })).body;
    const body = { text: 'Is this fine?', ...(stage === undefined ? {} : { stage }) };
    return (await room.call('testGuardrail', room.acme, { id, body })).body;
  }

  it('shows what was sent, what came back and the rule that decided, without a trace of the credential', async () => {
    const result = await tested({
      base_url: `${url}/200/block`,
      auth_mode: 'bearer_static',
      secret: SECRET,
      http_method: 'PUT',
      request_template: { said: '{{text}}', all: '{{messages}}', at: '{{stage}}' },
    });
    const { latency_ms, received, ...rest } = result;
    assert.ok(latency_ms >= 0 && latency_ms < 5_000);
    assert.deepEqual(rest, {
      verdict: 'blocked',
      stage: 'pre_dispatch',
      sent: {
        said: 'Is this fine?',
        all: [{ role: 'user', content: 'Is this fine?' }],
        at: 'pre_dispatch',
      },
      cause: null,
      matched_rule: { path: '$.verdict', operator: 'equals', value: 'block', action: 'block' },
      message: 'The guardrail blocks the text. A request gets 403 content_policy_violation.',
    });
    assert.equal(received?.status, 200);
    assert.match(received?.body ?? '', /"method":"PUT","key":"Bearer \[redacted\]"/);
    assert.ok(!JSON.stringify(result).includes(SECRET.slice(3, 12)));
  });

  it('is asked about the stage that was named', async () => {
    const template = { answer: '{{body}}', all: '{{messages}}' };
    const { stage, sent } = await tested({ request_template: template }, 'post_response');
    assert.equal(stage, 'post_response');
    const message = { role: 'assistant', content: 'Is this fine?' };
    assert.deepEqual((sent as { all: unknown }).all, [message]);
  });

  it('says why it is unavailable, and what that means for requests', async () => {
    const rows: readonly (readonly [Partial<GuardrailCreate>, GuardrailTestResult['cause'], RegExp])[] = [
      [{ base_url: `${url}/500/allow` }, 'bad_status', /returned 500.*503 guardrail_unavailable/],
      [{ base_url: `${url}/401/allow` }, 'bad_status', /does not accept the credential/],
      [{ base_url: `${url}/200/perhaps` }, 'no_rule_matched', /Add rules/],
      [{ base_url: `${url}/200/hang`, timeout_ms: 50 }, 'timeout', /50 ms/],
      [{ max_response_bytes: 20 }, 'too_large', /max_response_bytes \(20 B\)/],
      [{ max_request_bytes: 20, failure_mode: 'fail_open' }, 'too_large', /unchecked/],
      [{ auth_mode: 'bearer_static' }, 'unreachable', /no credential/],
      [{ base_url: 'http://127.0.0.1:9/allow' }, 'unreachable', /127\.0\.0\.1:9 is unreachable/],
    ];
    for (const [over, cause, words] of rows) {
      const result = await tested(over);
      assert.deepEqual([result.verdict, result.cause], ['unavailable', cause]);
      assert.match(result.message, words);
    }
  });

  it('shows no more than 16 KiB of the answer', async () => {
    const { received, verdict } = await tested({ base_url: `${url}/200/large` });
    assert.equal(verdict, 'unavailable');
    assert.equal(received?.body.length, 16 * 1024);
    assert.equal(received?.truncated, true);
  });

  it('needs the permission to change it', () => {
    assert.deepEqual(routeAccess.testGuardrail, { scope: 'relay:guardrails:manage' });
  });
});
