import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { EndpointTestResult, ProviderTestResult } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { sql } from 'kysely';
import { createSealer } from '../../kit/seal.ts';
import { type ManagementFixture, refusal, startManagement } from '../fixture.ts';

const SECRET = 'hx7-Qm2PzL9vTrW4-secret';
const OPEN = '127.0.0.2';
const ADDRESSES: Readonly<Record<string, string>> = { 'api.test': OPEN, 'private.test': '127.0.0.1' };

const lookup: LookupFunction = (hostname, options, callback) => {
  const address = ADDRESSES[hostname];
  if (address === undefined) callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), '', 0);
  else if (options.all === true) callback(null, [{ address, family: 4 }]);
  else callback(null, address, 4);
};

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  readonly version: string | string[] | undefined;
  readonly body: Record<string, unknown>;
}

/** A provider whose behaviour is the first part of the path, with or without `/v1` behind it. */
async function startUpstream(): Promise<{ server: Server; port: number; seen: Seen[] }> {
  const seen: Seen[] = [];
  const json = (response: ServerResponse, status: number, body: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const answers: Record<string, (request: Seen, response: ServerResponse) => void> = {
    good({ path, authorization, body }, response) {
      if (authorization !== `Bearer ${SECRET}`)
        json(response, 401, { error: { message: `no: ${authorization}` } });
      else if (path === '/v1/models')
        json(response, 200, { data: [{ id: 'gpt-5' }, { id: `leak-${SECRET}` }] });
      else if (path === '/v1/chat/completions') json(response, 200, { choices: [] });
      else if (path === '/v1/responses' && body['max_output_tokens'] === 16)
        json(response, 200, { output: [] });
      else if (path === '/v1/embeddings') json(response, 200, { data: [] });
      else json(response, 404, { error: { message: 'no such route' } });
    },
    anthropic({ path, query, version }, response) {
      const error = { type: 'invalid_request_error', message: 'anthropic-version: header is required' };
      if (version === undefined) json(response, 400, { type: 'error', error });
      else if (path === '/v1/models' && query.get('limit') === '1000') {
        const isLast = query.get('after_id') === 'claude-4';
        const data = [{ type: 'model', id: isLast ? 'claude-3' : 'claude-4' }];
        json(response, 200, { data, has_more: !isLast, last_id: data[0]?.id });
      } else if (path === '/v1/messages') json(response, 200, { type: 'message', content: [] });
      else json(response, 404, { type: 'error', error: { message: 'no such route' } });
    },
    newer({ body }, response) {
      if ('max_tokens' in body) {
        json(response, 400, { error: { message: "Use 'max_completion_tokens' instead of 'max_tokens'." } });
      } else json(response, 400, { error: { message: 'The model output limit was reached.' } });
    },
    echo: ({ authorization }, response) =>
      json(response, 401, { error: { message: `You sent ${authorization}` } }),
    hostile: ({ authorization = '' }, response) => {
      const key = authorization.replace('Bearer ', '');
      const forms = [
        key,
        key.toUpperCase(),
        [...key].join(' '),
        `${key.slice(0, 9)}\u0000\n${key.slice(9)}`,
        [...key].reverse().join(''),
        Buffer.from(key).toString('base64'),
        Buffer.from(authorization).toString('base64url'),
        Buffer.from(key).toString('hex'),
        `${key.slice(0, 4)}****${key.slice(-4)}`,
        `${key.slice(0, 4)}...${key.slice(-4)}`,
        `${key.slice(0, 4)}…${key.slice(-4)}`,
      ];
      json(response, 401, {
        error: { message: `Wrong key: ${forms.join(' | ')} \u001b[2J${'x'.repeat(5_000)}` },
      });
    },
    // The path of a list that is not below the base URL.
    v1: (_, response) => json(response, 404, { message: 'no such route' }),
    forbidden: (_, response) => json(response, 403, { error: { message: 'not in this region' } }),
    limited: (_, response) => json(response, 429, { error: { message: 'quota' } }),
    broken: (_, response) => json(response, 503, { error: 'overloaded' }),
    refusing: (_, response) => json(response, 400, { message: 'no such model' }),
    website: (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    moved: (_, response) => response.writeHead(302, { location: `http://private.test/` }).end(),
    cut: (_, response) => response.destroy(),
  };
  const server = createServer((request: IncomingMessage, response) => {
    void text(request).then((body) => {
      const [, behaviour = '', rest = ''] = /^\/(\w+)(.*)$/.exec(request.url ?? '') ?? [];
      const { pathname, searchParams } = new URL(rest, 'http://api.test');
      const asked = {
        method: request.method ?? '',
        path: pathname,
        query: searchParams,
        authorization: request.headers.authorization,
        version: request.headers['anthropic-version'],
        body: body === '' ? {} : (JSON.parse(body) as Record<string, unknown>),
      };
      seen.push(asked);
      answers[behaviour]?.(asked, response);
    });
  });
  server.listen(0, OPEN);
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port, seen };
}

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

describe('connection tests', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let upstream: Awaited<ReturnType<typeof startUpstream>>;
  let closedPort: number;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, { egress: { allowedCidrs: [`${OPEN}/32`], lookup } });
    upstream = await startUpstream();
    const gone = await startUpstream();
    closedPort = gone.port;
    gone.server.close();
  });
  after(async () => {
    upstream.server.close();
    upstream.server.closeAllConnections();
    await room.close();
    await database.drop();
  });

  async function setUp(
    baseUrl: string,
    over: { kind?: string; secret?: string | null; auth_mode?: 'none'; protocol?: 'anthropic' } = {},
  ) {
    const { body: provider } = await room.call('createProvider', room.acme, {
      body: { name: 'P', base_url: baseUrl, auth_mode: over.auth_mode ?? 'bearer_static' },
    });
    if (over.secret !== null) {
      await room.call('createCredential', room.acme, {
        body: { provider_id: provider.id, name: 'K', secret: over.secret ?? SECRET },
      });
    }
    const { body: endpoint } = await room.call('createEndpoint', room.acme, {
      body: {
        provider_id: provider.id,
        name: 'E',
        upstream_model: 'gpt-5',
        route_kind: (over.kind ?? 'chat') as 'chat',
        ...(over.protocol !== undefined && { protocol: over.protocol }),
      },
    });
    return { provider, endpoint };
  }

  async function testBoth(baseUrl: string, over: Parameters<typeof setUp>[1] = {}) {
    const { provider, endpoint } = await setUp(baseUrl, over);
    const results: (ProviderTestResult | EndpointTestResult)[] = [
      (await room.call('testProvider', room.acme, { id: provider.id })).body,
      (await room.call('testEndpoint', room.acme, { id: endpoint.id })).body,
    ];
    assert.ok(!JSON.stringify(results).includes(SECRET));
    return results;
  }

  const at = (behaviour: string) => `http://api.test:${upstream.port}/${behaviour}`;
  const statuses = (result: ProviderTestResult | EndpointTestResult) =>
    result.stages.map(({ stage, status }) => `${stage} ${status}`).join(', ');

  it('of a provider that is well list its models, and never a secret it may echo', async () => {
    const { provider } = await setUp(at('good/v1'));
    const { body } = await room.call('testProvider', room.acme, { id: provider.id });
    assert.equal(body.outcome, 'ok');
    assert.equal(body.stopped_at, null);
    assert.equal(statuses(body), 'resolve ok, connect ok, tls skipped, authenticate ok, respond ok');
    assert.deepEqual([body.model_count, body.model_ids, body.protocol], [2, ['gpt-5'], 'openai']);
  });

  for (const [kind, path, cap] of [
    ['chat', '/v1/chat/completions', { max_tokens: 1 }],
    ['multi', '/v1/chat/completions', { max_tokens: 1 }],
    ['responses', '/v1/responses', { max_output_tokens: 16 }],
    ['embeddings', '/v1/embeddings', {}],
  ] as const) {
    it(`of a ${kind} endpoint send one smallest request of its kind, with its model and credential`, async () => {
      const { endpoint } = await setUp(at('good/v1'), { kind });
      const sentBefore = upstream.seen.length;
      const { body } = await room.call('testEndpoint', room.acme, { id: endpoint.id });
      assert.equal(body.outcome, 'ok');
      assert.match(body.message, /may bill/);
      const sent = upstream.seen.slice(sentBefore);
      assert.deepEqual(
        sent.map((each) => [each.method, each.path, each.authorization]),
        [['POST', path, `Bearer ${SECRET}`]],
      );
      assert.partialDeepStrictEqual(sent[0]?.body, { model: 'gpt-5', ...cap });
    });
  }

  it('of a provider that speaks Anthropic’s protocol send its version, tell the protocol and read all pages', async () => {
    const { provider, endpoint } = await setUp(at('anthropic/v1'), { protocol: 'anthropic', kind: 'multi' });
    const { body: list } = await room.call('testProvider', room.acme, { id: provider.id });
    assert.deepEqual(
      [list.outcome, list.protocol, list.model_ids],
      ['ok', 'anthropic', ['claude-4', 'claude-3']],
    );
    const { body } = await room.call('testEndpoint', room.acme, { id: endpoint.id });
    assert.deepEqual([body.outcome, body.operation], ['ok', 'messages']);
    const sent = upstream.seen.at(-1);
    assert.deepEqual([sent?.path, sent?.version], ['/v1/messages', '2023-06-01']);
  });

  it('name the address that they called, below the base URL or not', async () => {
    const { body: provider } = await room.call('createProvider', room.acme, {
      body: { name: 'C', base_url: at('good/v1'), auth_mode: 'none', preset_slug: 'cohere' },
    });
    const { body } = await room.call('testProvider', room.acme, { id: provider.id });
    assert.equal(body.outcome, 'not_found');
    assert.ok(
      body.message.startsWith(`http://api.test:${upstream.port}/v1/models does not exist`),
      body.message,
    );
  });

  it('of a model that takes the cap under another name, and runs out of it, go well', async () => {
    const { endpoint } = await setUp(at('newer/v1'));
    const { body } = await room.call('testEndpoint', room.acme, { id: endpoint.id });
    assert.equal(body.outcome, 'ok');
    assert.deepEqual(upstream.seen.at(-1)?.body['max_completion_tokens'], 1);
  });

  const failures: [string, () => string, string, string, RegExp, number | null][] = [
    [
      'a name that does not resolve',
      () => 'https://gone.test/v1',
      'dns_failed',
      'resolve',
      /does not resolve/,
      null,
    ],
    ['a private address', () => 'https://private.test/v1', 'address_refused', 'resolve', /private/, null],
    [
      'a closed port',
      () => `http://api.test:${closedPort}/v1`,
      'connection_refused',
      'connect',
      /scheme and port/,
      null,
    ],
    [
      'a port that speaks no TLS',
      () => `https://api.test:${upstream.port}/good/v1`,
      'tls_failed',
      'tls',
      /certificate/,
      null,
    ],
    ['a refused credential', () => at('echo/v1'), 'unauthorized', 'authenticate', /does not accept/, 401],
    [
      'a credential without the right',
      () => at('forbidden/v1'),
      'forbidden',
      'authenticate',
      /permissions/,
      403,
    ],
    ['a base_url without /v1', () => at('good'), 'not_found', 'respond', /may need \/v1/, 404],
    ['a provider at its limit', () => at('limited/v1'), 'rate_limited', 'respond', /quota/, 429],
    ['a refused request', () => at('refusing/v1'), 'request_refused', 'respond', /see its message/, 400],
    ['a broken provider', () => at('broken/v1'), 'upstream_error', 'respond', /status page/, 503],
    ['a website', () => at('website/v1'), 'invalid_response', 'respond', /not a website/, 200],
    ['a redirect', () => at('moved/v1'), 'redirected', 'respond', /does not follow/, 302],
    ['a cut answer', () => at('cut/v1'), 'connection_failed', 'respond', /closed the connection/, null],
  ];
  for (const [what, baseUrl, outcome, stop, words, status] of failures) {
    it(`stop at ${stop} for ${what}, and say what to do`, async () => {
      for (const result of await testBoth(baseUrl())) {
        assert.equal(result.ok, false);
        assert.equal(result.outcome, outcome);
        assert.match(result.message, words);
        assert.equal(result.upstream_status, status);
        assert.equal(result.stopped_at, stop);
        assert.equal(result.host, new URL(baseUrl()).host);
        assert.equal(result.stages.find((stage) => stage.status === 'failed')?.stage, stop);
      }
    });
  }

  it('show the provider’s words without the secret in them', async () => {
    const [, result] = await testBoth(at('echo/v1'));
    assert.match(result?.upstream_message ?? '', /^You sent .*\[redacted\]/);
  });

  it('show nothing of a credential that the provider echoes, splits, encodes or masks', async () => {
    for (const result of await testBoth(at('hostile/v1'))) {
      const said = result.upstream_message ?? '';
      assert.match(said, /^Wrong key: \[redacted\]/);
      assert.ok(said.length <= 300, `${said.length} characters`);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left.
      assert.doesNotMatch(said, /[\u0000-\u001f]/);
      const letters = said.replaceAll(/[^a-z0-9]/gi, '').toLowerCase();
      const [start, end] = [SECRET.slice(0, 4), SECRET.slice(-4)].map((part) => part.replace('-', ''));
      for (const form of [
        SECRET,
        Buffer.from(SECRET).toString('hex'),
        Buffer.from(SECRET).toString('base64'),
      ]) {
        const plain = form.replaceAll(/[^a-z0-9]/gi, '').toLowerCase();
        for (let at = 0; at + 8 <= plain.length; at += 1) {
          assert.ok(!letters.includes(plain.slice(at, at + 8)), said);
        }
      }
      assert.ok(!letters.includes(`${start}${end}`.toLowerCase()), said);
    }
  });

  it('send nothing without an enabled credential, or with one that does not open', async () => {
    const sentBefore = upstream.seen.length;
    for (const result of await testBoth(at('good/v1'), { secret: null })) {
      assert.equal(result.outcome, 'no_credential');
      assert.equal(
        statuses(result),
        'resolve skipped, connect skipped, tls skipped, authenticate failed, respond skipped',
      );
    }
    const { provider } = await setUp(at('good/v1'));
    const foreign = createSealer({ primary: randomBytes(32) });
    await room.db
      .updateTable('credentials')
      .set({ sealed_secret: foreign.seal('x', []), key_id: foreign.keyId })
      .where('provider_id', '=', provider.id)
      .execute();
    const { body } = await room.call('testProvider', room.acme, { id: provider.id });
    assert.equal(body.outcome, 'credential_unreadable');
    assert.equal(upstream.seen.length, sentBefore);
  });

  it('send no credential where the provider takes none', async () => {
    const [result] = await testBoth(at('good/v1'), { auth_mode: 'none' });
    assert.equal(result?.outcome, 'unauthorized');
    assert.match(result?.message ?? '', /requires a credential/);
    assert.equal(upstream.seen.at(-1)?.authorization, undefined);
  });

  it('use the credential that the endpoint names', async () => {
    const { provider, endpoint } = await setUp(at('good/v1'), { secret: 'the-older-one' });
    const { body: right } = await room.call('createCredential', room.acme, {
      body: { provider_id: provider.id, name: 'right', secret: SECRET },
    });
    const outcome = async () =>
      (await room.call('testEndpoint', room.acme, { id: endpoint.id })).body.outcome;
    assert.equal(await outcome(), 'unauthorized');
    await room.call('updateEndpoint', room.acme, { id: endpoint.id, body: { credential_id: right.id } });
    assert.equal(await outcome(), 'ok');
    await room.call('updateCredential', room.acme, { id: right.id, body: { enabled: false } });
    assert.equal(await outcome(), 'no_credential');
  });

  it('write nothing: no version, no audit entry, no ledger row', async () => {
    const { provider, endpoint } = await setUp(at('good/v1'));
    const written = async () => {
      const { rows } = await sql`select
        (select count(*) from audit_log) as audit, (select count(*) from requests) as requests,
        (select max(version) from config_clock) as version`.execute(room.db);
      return rows;
    };
    const before = await written();
    await room.call('testProvider', room.acme, { id: provider.id });
    await room.call('testEndpoint', room.acme, { id: endpoint.id });
    assert.deepEqual(await written(), before);
  });

  it('are of one’s own organization alone', async () => {
    const { provider, endpoint } = await setUp(at('good/v1'));
    const sentBefore = upstream.seen.length;
    await assert.rejects(room.call('testProvider', room.globex, { id: provider.id }), refusal('not_found'));
    await assert.rejects(room.call('testEndpoint', room.globex, { id: endpoint.id }), refusal('not_found'));
    await assert.rejects(room.call('testProvider', room.acme, { id: 'x' }), refusal('not_found'));
    assert.equal(upstream.seen.length, sentBefore);
  });
});
