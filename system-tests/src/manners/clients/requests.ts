import assert from 'node:assert/strict';
import { addLane, ask, chatBody, errorOf } from '../../harness/ask-raw.ts';
import { openRaw } from '../../harness/raw-exchange.ts';
import type { Manner } from '../manner.ts';

/** A client sends these, and no provider gets them. */
const KEPT = {
  'openai-organization': 'org-of-the-client',
  'openai-project': 'proj-of-the-client',
  'idempotency-key': 'guessed',
  tracestate: 'tenant=secret',
  baggage: 'user=anne',
  cookie: 'a=b',
  forwarded: 'for=10.0.0.1',
  'x-forwarded-for': '10.0.0.1',
  'x-api-key': 'mine',
  'api-key': 'mine',
  'x-stainless-lang': 'js',
};
const PASSED = {
  accept: 'application/json',
  'openai-beta': 'responses=v1',
  'user-agent': 'manners/1.0',
  'x-client-request-id': 'mine-1',
  session_id: 'conversation-1',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
};

const HANDSHAKE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-version': '13',
};

/** Headers that differ between two answers to the same request. */
const OF_ONE_ANSWER = new Set(['date', 'x-request-id', 'x-relay-overhead-ms', 'transfer-encoding']);

function comparable(headers: Readonly<Record<string, string>>): [string, string][] {
  const own = ([name]: [string, string]) => !OF_ONE_ANSWER.has(name) && name !== 'content-security-policy';
  return Object.entries(headers).filter(own).sort();
}

export const requestManners: readonly Manner[] = [
  {
    name: 'a provider gets the headers that it may need, and none that choose who is billed or who asks',
    async check(site) {
      await addLane(site, 'headers');
      const body = chatBody('headers', { sim: { tag: 'headers' } });
      const answer = await ask(site, '/v1/chat/completions', { body, headers: { ...KEPT, ...PASSED } });
      assert.equal(answer.status, 200);
      const entry = site.provider.log.findLast(({ fault }) => fault?.tag === 'headers');
      const raw = entry?.rawHeaders ?? [];
      const names = raw.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
      for (const name of Object.keys(KEPT)) assert.ok(!names.includes(name), `${name} reached the provider`);
      for (const [name, value] of Object.entries(PASSED)) {
        assert.equal(raw[2 * names.indexOf(name) + 1], value, name);
      }
    },
  },
  {
    name: 'the scheme of Authorization is read in any case and with several spaces, on /v1 and /api',
    async check(site) {
      const doors = [
        ['/v1/models', site.apiToken],
        ['/api/relay/providers', site.adminToken],
      ] as const;
      for (const [path, token] of doors) {
        for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'bEaReR  ', 'Bearer     ']) {
          const answer = await ask(site, path, { headers: { authorization: scheme + token } });
          assert.equal(answer.status, 200, `"${scheme}" on ${path}`);
        }
        for (const value of [
          token,
          `Bearer${token}`,
          `Bearer ${token} more`,
          `Bearer, ${token}`,
          `Basic ${token}`,
        ]) {
          const answer = await ask(site, path, { headers: { authorization: value } });
          assert.equal(answer.status, 401, value.replace(token, '…'));
        }
      }
    },
  },
  {
    name: 'HEAD answers wherever GET does, with the same status and headers and no body',
    async check(site) {
      await addLane(site, 'headed');
      const admin = { authorization: `Bearer ${site.adminToken}` };
      const places: [string, Record<string, string>][] = [
        ['/v1/models', {}],
        ['/v1/models/headed', {}],
        ['/v1/models/nothing', {}],
        ['/api/relay/routing-lanes', admin],
        ['/api/relay/lane-memberships?limit=1', admin],
        ['/api/relay/endpoints/0198c0de-0000-7000-8000-000000000000', admin],
        ['/api/relay/requests/stream', admin],
        ['/api/account', {}],
        ['/openapi.json', {}],
        ['/docs/errors/not_found', {}],
        ['/console/', {}],
        ['/livez', {}],
        ['/readyz', {}],
        ['/metrics', {}],
      ];
      for (const [path, headers] of places) {
        const head = await ask(site, path, { method: 'HEAD', headers });
        assert.equal(head.body.length, 0, path);
        if (path.endsWith('/stream')) {
          assert.deepEqual(
            [head.status, head.headers['content-type']],
            [200, 'text/event-stream; charset=utf-8'],
          );
          continue;
        }
        const got = await ask(site, path, { headers });
        assert.equal(head.status, got.status, path);
        const length = head.headers['content-length'];
        if (path === '/metrics') continue;
        if (length === undefined) assert.equal(got.headers['transfer-encoding'], 'chunked', path);
        assert.deepEqual(comparable(head.headers), comparable(got.headers), path);
      }
      const posted = await ask(site, '/v1/chat/completions', { method: 'HEAD' });
      assert.deepEqual([posted.status, posted.headers['allow']], [405, 'POST']);
    },
  },
  {
    name: 'a trailing slash changes nothing on /v1 and /api, and is not redirected',
    async check(site) {
      await addLane(site, 'slash');
      const admin = { authorization: `Bearer ${site.adminToken}` };
      const chat = await ask(site, '/v1/chat/completions/', { body: chatBody('slash') });
      assert.equal(chat.status, 200);
      // Lists that nothing changes between two reads.
      const places: [string, Record<string, string>][] = [
        ['/v1/models', {}],
        ['/v1/models/slash', {}],
        ['/api/relay/routing-lanes', admin],
        ['/api/relay/lane-memberships', admin],
      ];
      for (const [path, headers] of places) {
        for (const query of ['', '?limit=1', '?limit=1&x=/']) {
          const plain = await ask(site, path + query, { headers });
          const slashed = await ask(site, `${path}/${query}`, { headers });
          assert.equal(slashed.status, plain.status, path + query);
          if (plain.status === 200) assert.equal(slashed.body.toString(), plain.body.toString(), path);
        }
      }
      for (const path of [
        '/v1/chat/completions//',
        '/v1//models',
        '/v1/',
        '/api/',
        '/api/relay/providers//',
      ]) {
        const answer = await ask(site, path, { headers: admin });
        assert.equal(answer.status, 404, path);
      }
    },
  },
  {
    name: 'stream: true is refused on embeddings, and names the field',
    async check(site) {
      await addLane(site, 'embedded');
      const body = { model: 'embedded', input: 'text' };
      const before = site.provider.log.length;
      const refused = await ask(site, '/v1/embeddings', { body: { ...body, stream: true } });
      assert.deepEqual([refused.status, errorOf(refused)['param']], [400, 'stream']);
      assert.equal(site.provider.log.length, before, 'nothing is sent');
      for (const stream of [false, null]) {
        assert.equal((await ask(site, '/v1/embeddings', { body: { ...body, stream } })).status, 200);
      }
    },
  },
  {
    name: 'a WebSocket is answered 426 on every path that takes POST, with and without a key',
    async check(site) {
      const right = `Bearer ${site.apiToken}`;
      for (const [path, authorization] of [
        ...[right, 'Bearer nobody', ''].map((value) => ['/v1/responses', value] as const),
        ...['/v1/chat/completions', '/v1/responses/'].map((other) => [other, right] as const),
      ]) {
        const answer = await ask(site, path, { headers: { ...HANDSHAKE, authorization } });
        assert.equal(answer.status, 426);
        assert.match(answer.headers['connection'] ?? '', /upgrade/i);
        assert.equal(answer.headers['upgrade'], 'HTTP/1.1');
        assert.equal(errorOf(answer)['code'], 'upgrade_required');
        assert.match(String(errorOf(answer)['message']), /POST/);
      }
    },
  },
  {
    name: 'every other upgrade request is answered over HTTP/1.1',
    async check(site) {
      await addLane(site, 'upgraded');
      const admin = { authorization: `Bearer ${site.adminToken}` };
      const h2c = {
        connection: 'Upgrade, HTTP2-Settings',
        upgrade: 'h2c',
        'http2-settings': 'AAMAAABkAAQAoAAAAAIAAAAA',
      };
      const body = chatBody('upgraded');
      assert.equal((await ask(site, '/v1/chat/completions', { body, headers: h2c })).status, 200);
      assert.equal((await ask(site, '/v1/chat/completions', { body, headers: HANDSHAKE })).status, 200);
      assert.equal((await ask(site, '/v1/realtime', { headers: HANDSHAKE })).status, 404);
      assert.equal((await ask(site, '/livez', { headers: HANDSHAKE })).status, 200);
      assert.equal(
        (await ask(site, '/api/relay/providers', { headers: { ...admin, ...HANDSHAKE } })).status,
        200,
      );
      const tunnel = await connectThrough(site.url);
      assert.deepEqual([tunnel.status, tunnel.allow], [405, 'GET, HEAD, POST, PUT, PATCH, DELETE']);
    },
  },
];

/** CONNECT is for proxies; what it gets is an answer and not a dropped connection. */
function connectThrough(url: string): Promise<{ status: number; allow: string | undefined }> {
  return new Promise((resolve, reject) => {
    const outgoing = openRaw({ url, method: 'CONNECT' });
    outgoing.once('connect', (answer, socket) => {
      socket.destroy();
      resolve({ status: answer.statusCode ?? 0, allow: answer.headers.allow });
    });
    outgoing.once('error', reject);
    outgoing.end();
  });
}
