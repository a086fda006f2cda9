import assert from 'node:assert/strict';
import { ask, chatBody, errorOf, MODEL, preflight } from '../../harness/ask-raw.ts';
import type { RelayProcess } from '../../harness/relay-process.ts';
import { APP_ORIGIN } from '../../harness/shared-deployment.ts';
import type { Manner } from '../manner.ts';
import { secondGateway } from '../second-gateway.ts';

const OTHER_ORIGINS = [
  'https://app.example.com.evil.com',
  'https://evil.com',
  'http://app.example.com',
  'https://app.example.com:8443',
  'https://sub.app.example.com',
  'https://APP.example.com/',
  'null',
  '*',
  `${APP_ORIGIN}, https://evil.com`,
];
const EXPOSED = [
  'x-request-id',
  'x-relay-error-source',
  'x-relay-selected-endpoint',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-tokens',
  'retry-after',
  'retry-after-ms',
];

function corsHeaders(headers: Readonly<Record<string, string>>): string[] {
  return Object.keys(headers).filter((name) => name.startsWith('access-control-'));
}

export const browserManners: readonly Manner[] = [
  {
    name: 'without configured origins no answer carries a CORS header, also when the provider sends some',
    async check(site) {
      const sim = {
        headers: { 'access-control-allow-origin': '*', 'access-control-allow-credentials': 'true' },
      };
      const sent = { body: chatBody(MODEL, { sim }), headers: { origin: APP_ORIGIN } };
      const answer = await ask(site, '/v1/chat/completions', sent);
      assert.equal(answer.status, 200);
      assert.deepEqual(corsHeaders(answer.headers), []);
      const asked = await ask(site, '/v1/chat/completions', preflight(APP_ORIGIN));
      assert.deepEqual([asked.status, corsHeaders(asked.headers)], [405, []]);
    },
  },
  {
    name: 'a page of a configured origin may call /v1 and read its headers, and no other page may',
    async check(site) {
      const { relay } = await secondGateway(site);
      const open = { url: relay.url, apiToken: site.apiToken };
      await checkOurPage(relay, open);
      for (const origin of OTHER_ORIGINS) {
        const asked = await ask(open, '/v1/chat/completions', preflight(origin));
        assert.deepEqual([asked.status, corsHeaders(asked.headers)], [405, []], origin);
        const served = await ask(open, '/v1/models', { headers: { origin } });
        assert.deepEqual([served.status, corsHeaders(served.headers)], [200, []], origin);
        assert.match(served.headers['vary'] ?? '', /\borigin\b/i);
      }
      for (const path of ['/api/account', '/api/relay/providers', '/healthz', '/metrics', '/console/']) {
        const answer = await ask(open, path, { headers: { origin: APP_ORIGIN } });
        assert.deepEqual(corsHeaders(answer.headers), [], path);
        const asked = await ask(open, path, preflight(APP_ORIGIN));
        assert.deepEqual(corsHeaders(asked.headers), [], path);
      }
    },
  },
  {
    name: 'a wildcard is no origin, and stops the start',
    async check(site) {
      const starting = site.beside({ env: { RELAY_CORS_ORIGINS: '*' } }, async () => undefined);
      await assert.rejects(starting, /RELAY_CORS_ORIGINS does not support wildcards/);
    },
  },
];

async function checkOurPage(relay: RelayProcess, open: { url: string; apiToken: string }): Promise<void> {
  const asked = await ask(open, '/v1/chat/completions', preflight(APP_ORIGIN));
  assert.equal(asked.status, 204, relay.url);
  assert.equal(asked.headers['access-control-allow-origin'], APP_ORIGIN);
  assert.match(asked.headers['access-control-allow-methods'] ?? '', /POST/);
  assert.match(asked.headers['access-control-allow-headers'] ?? '', /authorization/i);
  assert.equal(asked.headers['access-control-allow-credentials'], undefined);
  assert.match(asked.headers['vary'] ?? '', /\borigin\b/i);

  const sim = { headers: { 'access-control-allow-origin': '*', vary: 'accept' } };
  const sent = { body: chatBody(MODEL, { sim }), headers: { origin: APP_ORIGIN } };
  const refusal = { headers: { origin: APP_ORIGIN, authorization: 'Bearer nobody' } };
  for (const answer of [
    await ask(open, '/v1/chat/completions', sent),
    await ask(open, '/v1/models', { headers: { origin: APP_ORIGIN } }),
    await ask(open, '/v1/models', refusal),
  ]) {
    assert.ok(answer.status === 200 || errorOf(answer)['code'] === 'invalid_api_key');
    assert.equal(answer.headers['access-control-allow-origin'], APP_ORIGIN);
    assert.equal(answer.headers['access-control-allow-credentials'], undefined);
    assert.match(answer.headers['vary'] ?? '', /\borigin\b/i);
    const exposed = (answer.headers['access-control-expose-headers'] ?? '').toLowerCase().split(/, */);
    for (const name of EXPOSED) assert.ok(exposed.includes(name), `${name} is not exposed`);
  }
}
