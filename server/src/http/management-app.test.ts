import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createConnection } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { allRoutes, allScopes, type Scope } from '@relay/contract';
import type { Caller } from '../domain/caller.ts';
import { RelayError } from '../domain/relay-error.ts';
import { createLog } from '../kit/log.ts';
import type { Handlers } from './call.ts';
import { createManagementApp } from './management-app.ts';

const scopes = new Set<Scope>();
const caller: Caller = {
  organizationId: 'o',
  userId: 'u',
  keyId: null,
  sessionId: null,
  kind: 'user_key',
  scopes,
  access: { granted: scopes, permissions: new Set(allScopes), plan: 'team' },
  keyPolicies: [],
};
let draining = false;
let called = 0;
const handlers: Handlers = {
  listProviders: async (call) => {
    called += 1;
    call.setHeader('x-next-cursor', `${typeof call.query?.limit}`);
    return [];
  },
  createProvider: async () => {
    called += 1;
    throw new Error('a defect with a secret in it');
  },
  deleteProvider: async () => undefined,
  listEndpoints: async ({ ended }) => {
    waiting.resolve();
    await once(ended, 'abort');
    left.resolve();
    return [];
  },
  receiveStripeEvent: async (call) => {
    rawBodies.push(call.body);
    return { received: true, outcome: 'ignored' };
  },
};
const rawBodies: unknown[] = [];
const waiting = Promise.withResolvers<void>();
const left = Promise.withResolvers<void>();
const logged: string[] = [];

let url = '';
const server = createServer();

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly error: { code?: string; message?: string; param?: string | null; request_id?: string };
}

async function call(
  method: string,
  path: string,
  body?: string | Buffer<ArrayBuffer>,
  type = 'application/json',
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: 'Bearer good', ...(body === undefined ? {} : { 'content-type': type }) },
    body: body ?? null,
  });
  const text = await response.text();
  const parsed = text.startsWith('{') ? (JSON.parse(text) as { error?: Answer['error'] }) : {};
  return { status: response.status, headers: response.headers, error: parsed.error ?? {} };
}

describe('the management app', () => {
  before(async () => {
    const handle = await createManagementApp({
      handlers,
      authenticate: ({ headers }) => {
        if (headers.authorization === 'Bearer good') return caller;
        throw new RelayError('invalid_api_key');
      },
      bodyBytesMax: 1_000,
      publicUrl: 'http://relay.test',
      log: createLog('debug', { write: (line) => void logged.push(line) }),
      draining: () => draining,
    });
    server.on('request', (request, response) => handle(request, response, 'minted-id'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server.close());

  it('gives a route that asks for it the body as it was sent, whatever it is', async () => {
    const bodies = ['{ "id":  1.0 }\n', 'not json', '"ä"'];
    for (const body of bodies)
      assert.equal((await call('POST', '/api/billing/stripe-webhook', body)).status, 200);
    assert.deepEqual(rawBodies, bodies);
    assert.equal((await call('POST', '/api/billing/stripe-webhook', 'x'.repeat(1_001))).status, 413);
    assert.equal((await call('POST', '/api/billing/stripe-webhook', '{}', 'text/plain')).status, 415);
  });

  it('refuses a body in another encoding than UTF-8, and says so', async () => {
    for (const charset of ['utf-16', '"UTF-16LE"', 'iso-8859-1']) {
      const { status, error } = await call(
        'POST',
        '/api/relay/providers',
        '{}',
        `application/json; charset=${charset}`,
      );
      assert.deepEqual([status, error.code], [415, 'unsupported_media_type'], charset);
      assert.match(error.message ?? '', /reads JSON as UTF-8/);
    }
    for (const charset of ['utf-8', 'UTF-8', '"utf-8"', 'utf8', 'us-ascii']) {
      const { status } = await call(
        'POST',
        '/api/relay/providers',
        '{}',
        `application/json; charset=${charset}`,
      );
      assert.equal(status, 403, charset);
    }
    const { status, error } = await call(
      'POST',
      '/api/relay/providers',
      Buffer.from('{"name":"caf\xe9"}', 'latin1'),
    );
    assert.deepEqual([status, error.code], [400, 'invalid_json']);
  });

  it('checks the caller before anything else', async () => {
    const response = await fetch(`${url}/api/relay/providers`);
    assert.equal(response.status, 401);
  });
  it('answers 403 naming the scope, and calls no handler', async () => {
    const { status, error } = await call('GET', '/api/relay/providers');
    assert.equal(status, 403);
    assert.match(error.message ?? '', /relay:providers:read/);
    assert.equal(called, 0);
  });
  it('calls the handler with valid input and passes its headers on', async () => {
    scopes.add('relay:providers:read');
    const { status, headers } = await call('GET', '/api/relay/providers?limit=5');
    assert.equal(status, 200);
    assert.equal(headers.get('x-next-cursor'), 'number');
  });

  const invalid: [string, string, string, string | undefined, string | undefined, number, string][] = [
    [
      'a query of the wrong kind',
      'GET',
      '/api/relay/providers?limit=many',
      undefined,
      undefined,
      400,
      'invalid_request',
    ],
    ['a body that is not JSON', 'POST', '/api/relay/providers', '{', undefined, 400, 'invalid_json'],
    ['a missing field', 'POST', '/api/relay/providers', '{}', undefined, 400, 'invalid_request'],
    [
      'an unknown field',
      'POST',
      '/api/relay/providers',
      '{"name":"x","colour":1}',
      undefined,
      400,
      'invalid_request',
    ],
    [
      'another media type',
      'POST',
      '/api/relay/providers',
      'a=1',
      'text/plain',
      415,
      'unsupported_media_type',
    ],
    [
      'a body over the limit',
      'POST',
      '/api/relay/providers',
      `"${'x'.repeat(2_000)}"`,
      undefined,
      413,
      'body_too_large',
    ],
    ['an unknown path', 'GET', '/api/relay/nothing', undefined, undefined, 404, 'route_not_found'],
    ['another method', 'PATCH', '/api/relay/providers', undefined, undefined, 405, 'method_not_allowed'],
    [
      'an id that is longer than any',
      'GET',
      `/api/relay/providers/${'x'.repeat(101)}`,
      undefined,
      undefined,
      404,
      'not_found',
    ],
    ['a broken path', 'GET', '/api/relay/%zz', undefined, undefined, 400, 'invalid_request'],
  ];
  for (const [what, method, path, body, type, status, code] of invalid) {
    it(`answers ${status} ${code} to ${what}, with the minted request id`, async () => {
      scopes.add('relay:providers:manage');
      const answer = await call(method, path, body, type);
      assert.equal(answer.status, status);
      assert.equal(answer.error.code, code);
      assert.equal(answer.error.request_id, 'minted-id');
      assert.equal(answer.headers.get('x-request-id'), 'minted-id');
    });
  }

  it('lists the methods that a path takes, whatever its ids are', async () => {
    const collection = await call('DELETE', '/api/relay/providers?limit=1');
    assert.equal(collection.headers.get('allow'), 'GET, HEAD, POST');
    const one = await call('POST', '/api/relay/providers/some-id');
    assert.equal(one.headers.get('allow'), 'DELETE, GET, HEAD, PUT');
    assert.match(one.error.message ?? '', /does not support POST.*DELETE, GET, HEAD, PUT/);
  });
  it('says nothing of a defect but that it happened', async () => {
    const body = JSON.stringify({
      name: 'x',
      base_url: 'https://x.example',
      auth_mode: 'none',
      enabled: true,
    });
    const { status, error } = await call('POST', '/api/relay/providers', body);
    assert.equal(status, 500);
    assert.equal(error.code, 'internal_error');
    assert.doesNotMatch(JSON.stringify(error), /defect with a secret/);
  });
  it('answers 204 without a body where the contract has none', async () => {
    const { status } = await call('DELETE', '/api/relay/providers/01890000-0000-7000-8000-000000000000');
    assert.equal(status, 204);
  });
  it('answers 501 for a route without a handler', async () => {
    scopes.add('relay:guardrails:read');
    const { status, error } = await call('GET', '/api/relay/guardrails');
    assert.equal(status, 501);
    assert.equal(error.code, 'not_implemented');
  });
  it('does not let a client choose the request id', async () => {
    const response = await fetch(`${url}/api/relay/nothing`, {
      headers: { 'x-relay-internal-request-id': 'forged', 'x-request-id': 'forged' },
    });
    assert.equal(response.headers.get('x-request-id'), 'minted-id');
  });
  it('serves the interface description and a page for every error', async () => {
    const openApi = (await (await fetch(`${url}/openapi.json`)).json()) as { openapi: string };
    assert.match(openApi.openapi, /^3\.1/);
    assert.equal((await fetch(`${url}/docs/errors/queue_full`)).status, 200);
    assert.equal((await fetch(`${url}/docs/errors/toString`)).status, 404);
    const index = await (await fetch(`${url}/docs`)).text();
    for (const part of ['/openapi.json', '/docs/errors/queue_full', 'X-Relay-Left-Out'])
      assert.ok(index.includes(part), part);
  });
  it('mounts every management route of the contract behind the caller check', async () => {
    for (const route of allRoutes.filter(
      ({ plane, access }) => plane === 'management' && access !== 'public',
    )) {
      const response = await fetch(url + route.path.replaceAll(/\{\w+\}/g, 'x'), { method: route.method });
      assert.equal(response.status, 401, `${route.method} ${route.path}`);
    }
  });
  it('takes a client that leaves in the middle of its request for no error of its own', async () => {
    logged.length = 0;
    const socket = createConnection(Number(new URL(url).port), '127.0.0.1');
    const head = ['POST /api/relay/providers HTTP/1.1', 'host: a', 'authorization: Bearer good'];
    socket.write(
      `${[...head, 'content-type: application/json', 'content-length: 100'].join('\r\n')}\r\n\r\n{`,
    );
    await once(server, 'request');
    socket.destroy();
    while (logged.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const levels = logged.map((line) => (JSON.parse(line) as { level: string }).level);
    assert.deepEqual(levels, ['debug']);
  });
  it('tells a handler that its client disconnected', async () => {
    scopes.add('relay:routing:read');
    const leaving = new AbortController();
    const headers = { authorization: 'Bearer good' };
    const answer = fetch(`${url}/api/relay/endpoints`, { headers, signal: leaving.signal });
    await waiting.promise;
    leaving.abort();
    await assert.rejects(answer);
    await left.promise;
    scopes.delete('relay:routing:read');
  });
  it('refuses new work while draining', async () => {
    draining = true;
    const { status, error } = await call('GET', '/api/relay/providers');
    draining = false;
    assert.equal(status, 503);
    assert.equal(error.code, 'draining');
  });
});
