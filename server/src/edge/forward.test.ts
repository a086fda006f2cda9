import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { digestOfBody } from '../domain/body-digest.ts';
import { RelayError } from '../domain/relay-error.ts';
import { type OpenWork, stopOpenWork } from '../http/open-work.ts';
import {
  CHAT,
  caller,
  codeOf,
  identity,
  openPlaces,
  post,
  talk,
  verify,
  wholeBody,
} from './forward.fixture.ts';
import type { ForwarderDeps } from './forward.ts';

const places = openPlaces();
const { inferenceThat, platformBefore } = places;

describe('forwarded requests', () => {
  afterEach(() => places.close());

  describe('the platform in front of inference', () => {
    it('signs a context for exactly the request it hands on, under the id the client gets', async () => {
      const seen: { token: unknown; body: Buffer }[] = [];
      const url = await platformBefore(
        await inferenceThat(async (request, response) => {
          seen.push({ token: request.headers['x-relay-context'], body: await wholeBody(request) });
          response.setHeader('x-request-id', (await verify(String(seen[0]?.token))).requestId);
          response.end();
        }),
      );
      const body = Buffer.from([0x7b, 0xff, 0x00, 0x0d, 0x0a, 0x7d]);
      const response = await fetch(`${url}${CHAT}?a=%20b&c`, { method: 'POST', body });
      const context = await verify(String(seen[0]?.token));
      assert.deepEqual(seen[0]?.body, body);
      assert.deepEqual(context, {
        requestId: response.headers.get('x-request-id'),
        method: 'POST',
        target: `${CHAT}?a=%20b&c`,
        bodyDigest: digestOfBody(body),
        caller: identity,
        configVersion: 12,
      });
    });

    it('drops what a client must not decide, in every spelling, and keeps the rest as it was sent', async () => {
      let raw: string[] = [];
      const url = await platformBefore(
        await inferenceThat((request, response) => {
          raw = request.rawHeaders;
          response.setHeader('connection', 'close');
          response.end();
        }),
      );
      const untrusted = [
        'X-Relay-Context: forged',
        'x-relay-context: forged',
        'X_RELAY_CONTEXT: forged',
        'x-relay_user-id: forged',
        'X-Relay_Organization-Id: forged',
        'x_relay-anything: forged',
        'Authorization: Bearer rly_secret',
        'X-Api-Key: rly_secret',
        'x_api_key: rly_secret',
        'Cookie: relay_session=secret',
        'X-CSRF-Token: secret',
        'X-Csrf_Token: secret',
        'Proxy-Authorization: Basic secret',
        'Forwarded: for=1.2.3.4',
        'X-Forwarded-For: 1.2.3.4',
        'x_forwarded_host: forged',
        'X-Real-IP: 1.2.3.4',
        'TE: trailers',
        'Keep-Alive: timeout=5',
        'X-Of-This-Hop: forged',
        'Connection: close, x-of-this-hop',
      ];
      const kept = ['X-Odd-Case: caf\u00e9', 'x-odd-case: again', 'OpenAI-Beta: a, b', 'X-Request-Id: mine'];
      const head = [
        `POST ${CHAT} HTTP/1.1`,
        'Host: public.example',
        'Content-Length: 2',
        ...untrusted,
        ...kept,
      ];
      const answer = await talk(url, `${head.join('\r\n')}\r\n\r\n{}`);
      assert.match(answer, /^HTTP\/1.1 200/);
      const lines: string[] = [];
      for (let index = 0; index < raw.length; index += 2) lines.push(`${raw[index]}: ${raw[index + 1]}`);
      for (const line of kept) assert.ok(lines.includes(line), line);
      const added = lines.filter((line) => !kept.includes(line)).map((line) => line.split(':')[0]);
      assert.deepEqual(added.sort(), ['connection', 'content-length', 'host', 'x-relay-context'].sort());
      assert.doesNotMatch(lines.join('\n'), /secret|forged|1\.2\.3\.4|public\.example/);
    });

    it('answers those that inference has not answered when its time is up', async () => {
      const open: OpenWork = new Set();
      let arrived: () => void = () => undefined;
      const asked = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      let left: () => void = () => undefined;
      const aborted = new Promise<void>((resolve) => {
        left = resolve;
      });
      const origin = await inferenceThat((_request, response) => {
        response.once('close', left);
        arrived();
      });
      const answer = post(await platformBefore(origin, { open }));
      await asked;
      stopOpenWork(open);
      const response = await answer;
      assert.deepEqual([response.status, await codeOf(response)], [503, 'draining']);
      await aborted;
      assert.equal(open.size, 0);
    });

    it('passes status, headers and body on as they are', async () => {
      const bytes = Buffer.from('{"error":"\u00fc"}\r\n', 'latin1');
      const url = await platformBefore(
        await inferenceThat((_request, response) => {
          response.writeHead(429, [
            'X-Relay-Wait-Ms',
            '7',
            'X-Relay-Selected-Endpoint',
            'caf\u00e9',
            'retry-after',
            '3',
            'Keep-Alive',
            'timeout=99',
            'content-length',
            String(bytes.length),
          ]);
          response.end(bytes);
        }),
      );
      const length = 'Content-Length: 2\r\nConnection: close';
      const answer = await talk(url, `POST ${CHAT} HTTP/1.1\r\nHost: a\r\n${length}\r\n\r\n{}`);
      assert.match(answer, /^HTTP\/1.1 429 /);
      for (const line of ['X-Relay-Wait-Ms: 7', 'X-Relay-Selected-Endpoint: caf\u00e9', 'retry-after: 3'])
        assert.ok(answer.includes(`\r\n${line}\r\n`), line);
      assert.doesNotMatch(answer, /timeout=99/);
      assert.ok(answer.endsWith(`\r\n\r\n${bytes.toString('latin1')}`));
    });

    it('hands on the first frame before the last was sent', async () => {
      let finish: () => void = () => undefined;
      const url = await platformBefore(
        await inferenceThat((_request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write('data: first\n\n');
          finish = () => response.end('data: last\n\n');
        }),
      );
      const { body } = await post(url);
      const reader = (body as ReadableStream<Uint8Array>).getReader();
      const first = await reader.read();
      assert.equal(Buffer.from(first.value ?? []).toString(), 'data: first\n\n');
      finish();
      const last = await reader.read();
      assert.equal(Buffer.from(last.value ?? []).toString(), 'data: last\n\n');
      assert.equal((await reader.read()).done, true);
    });

    it('asks for the model list without a body, whatever the client sent along', async () => {
      const seen: (string | undefined)[] = [];
      const url = await platformBefore(
        await inferenceThat((request, response) => {
          seen.push(request.method, request.headers['content-length'], request.headers['transfer-encoding']);
          response.end('[]');
        }),
      );
      const length = 'Content-Length: 2\r\nConnection: close';
      const answer = await talk(url, `GET /v1/models HTTP/1.1\r\nHost: a\r\n${length}\r\n\r\n{}`);
      assert.match(answer, /^HTTP\/1.1 200/);
      assert.deepEqual(seen, ['GET', undefined, undefined]);
    });
  });

  describe('callers without permission', () => {
    async function refusedBy(over: Partial<ForwarderDeps>, path = CHAT, method = 'POST'): Promise<Response> {
      let requests = 0;
      const origin = await inferenceThat((_request, response) => {
        requests += 1;
        response.end();
      });
      const url = await platformBefore(origin, over);
      const response = await fetch(url + path, method === 'POST' ? { method, body: '{}' } : { method });
      assert.equal(requests, 0);
      return response;
    }
    const unknown = () => {
      throw new RelayError('invalid_api_key');
    };
    const withoutScope = {
      ...caller,
      scopes: new Set<never>(),
      access: { ...caller.access, granted: new Set<never>() },
    };

    const cases: [string, Partial<ForwarderDeps>, string, string, number, string][] = [
      ['an unknown key', { authenticate: unknown }, CHAT, 'POST', 401, 'invalid_api_key'],
      [
        'a key found out to be unknown later',
        { authenticate: async () => unknown() },
        CHAT,
        'POST',
        401,
        'invalid_api_key',
      ],
      [
        'a key without the scope',
        { authenticate: () => withoutScope },
        CHAT,
        'POST',
        403,
        'insufficient_scope',
      ],
      ['a path that there is not', {}, '/v1/else', 'POST', 404, 'route_not_found'],
      ['a method that there is not', {}, CHAT, 'GET', 405, 'method_not_allowed'],
      ['whoever comes while it is stopping', { draining: () => true }, CHAT, 'POST', 503, 'draining'],
      ['a body that is too large', { bodyBytesMax: 1 }, CHAT, 'POST', 413, 'body_too_large'],
    ];
    for (const [what, over, path, method, status, code] of cases) {
      it(`${what} gets ${status} ${code}, and inference hears nothing`, async () => {
        const response = await refusedBy(over, path, method);
        assert.equal(response.status, status);
        assert.match(response.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
        assert.equal(await codeOf(response), code);
      });
    }

    it('a body that grows too large is refused at the byte that goes over', async () => {
      const url = await platformBefore('http://127.0.0.1:9', { bodyBytesMax: 10 });
      const head = `POST ${CHAT} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`;
      assert.match(await talk(url, `${head}b\r\n01234567890\r\n`), /^HTTP\/1.1 413/);
    });

    it('a body that does not come is waited for no longer than a request may take', async () => {
      const url = await platformBefore('http://127.0.0.1:9');
      const answer = await talk(url, `POST ${CHAT} HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{`);
      assert.match(answer, /^HTTP\/1.1 408/);
    });

    it('a body is not asked for before its sender was let in', async () => {
      const url = await platformBefore('http://127.0.0.1:9', { authenticate: unknown });
      const head = 'Host: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n';
      assert.match(await talk(url, `POST ${CHAT} HTTP/1.1\r\n${head}`), /^HTTP\/1.1 401/);
    });
  });
});
