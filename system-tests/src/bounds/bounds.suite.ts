/* oxlint-disable max-lines -- tables of cases, one row each */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { createProbe } from '../harness/probe-client.ts';
import { type Conversation, type RawResponse, type Talk, talk } from '../harness/raw-connection.ts';
import type { RelayProcess } from '../harness/relay-process.ts';
import { drip, nested, pumpChunked, pumpPlain, sendThroughHttp } from './large-bodies.ts';
import { malformedBodies } from './malformed-bodies.ts';
import { unreadableRequests } from './unreadable-requests.ts';

// Hostile and broken requests, and the resources they may use.

const LIMIT_BYTES = 20 * 1024 * 1024;
const MIB = 1024 * 1024;
const CHAT = '/v1/chat/completions';
/** One body at the limit, its copy, its text, and the garbage collector's slack. */
const RSS_GROWTH_BYTES_MAX = 300 * MIB;
const HEADERS_DEADLINE_MS = 10_000;
const SHORT_DEADLINE = join(import.meta.dirname, 'short-deadline.ts');

const probe = createProbe();
let deployment: Deployment;
let hasty: RelayProcess;
let rssBytesBefore = 0;
const figures = { cases: 0, wrong: 0 };
const more: Record<string, number> = {};
let slowHeaders: Promise<Conversation[]>;

before(async () => {
  deployment = await startDeployment({ nodeFlags: probe.nodeFlags, env: probe.env });
  hasty = await deployment.startProcess({
    nodeFlags: ['--import', SHORT_DEADLINE],
    env: { RELAY_PROBE_SOCKET: '' },
  });
  const endpoints = [{ baseUrl: deployment.provider.baseUrl, upstreamModel: 'sim-multi' }];
  await createLane(deployment.admin, { name: 'Bounds lane', endpoints });
  assert.equal((await post(JSON.stringify(plain))).status, 200);
  rssBytesBefore = (await probe.collect()).rssBytes;
  // These last as long as the deadline, so they run concurrently with the others.
  slowHeaders = Promise.all(Array.from({ length: 100 }, (_, index) => sendSlowHeaders(index)));
});
after(async () => {
  await deployment.stop();
  probe.remove();
  reportFigures({ ...figures, ...more });
});

const plain = { model: 'bounds-lane', messages: [{ role: 'user', content: 'Hello.' }] };

/** A test that is counted, and counted as wrong when it fails. */
function check(name: string, run: () => Promise<void>): void {
  it(name, async () => {
    figures.cases += 1;
    try {
      await run();
    } catch (error) {
      figures.wrong += 1;
      throw error;
    }
  });
}

function head(path: string, fields: Readonly<Record<string, string>>, method = 'POST'): string {
  const all = { host: 'relay', authorization: `Bearer ${deployment.apiToken}`, ...fields };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

function ask(send: Talk['send'], rest: Partial<Talk> = {}): Promise<Conversation> {
  return talk({ url: deployment.url, send, ...rest });
}

async function post(body: string | Buffer, path = CHAT): Promise<RawResponse> {
  const bytes = Buffer.from(body);
  const { responses } = await ask(
    (socket) => {
      socket.write(
        head(path, { 'content-length': String(bytes.length), 'content-type': 'application/json' }),
      );
      socket.write(bytes);
    },
    { timeoutMs: 20_000 },
  );
  assert.ok(responses[0], 'no answer');
  return responses[0];
}

/** Checks a Relay error: its shape, code and request ID. */
function assertError(response: RawResponse | undefined, status: number, code?: string): void {
  assert.ok(response, 'no answer');
  assert.equal(response.status, status, response.body);
  const { error } = JSON.parse(response.body) as { error: Record<string, unknown> };
  if (code !== undefined) assert.equal(error['code'], code);
  assert.match(String(response.headers['x-request-id']), /^[0-9a-f-]{36}$/);
  assert.equal(error['request_id'], response.headers['x-request-id']);
}

function upstreamCalls(): number {
  return deployment.provider.log.length;
}

describe('a body over the limit', () => {
  check('that says so is refused before a byte of it is sent', async () => {
    const { responses, tookMs } = await ask((socket) => {
      socket.write(head(CHAT, { 'content-length': String(LIMIT_BYTES + 1) }));
    });
    assertError(responses[0], 413, 'body_too_large');
    assert.equal(responses[0]?.headers['connection'], 'close');
    assert.ok(tookMs < 1_000, `${tookMs} ms`);
  });

  check('of a terabyte is refused likewise', async () => {
    const { responses } = await ask((socket) =>
      socket.write(head(CHAT, { 'content-length': '1099511627776' })),
    );
    assertError(responses[0], 413, 'body_too_large');
  });

  check('is not asked for by 100 Continue', async () => {
    const fields = { 'content-length': String(LIMIT_BYTES + 1), expect: '100-continue' };
    const { responses } = await ask((socket) => socket.write(head(CHAT, fields)));
    assert.deepEqual(
      responses.map(({ status }) => status),
      [413],
    );
  });

  for (const [name, connect] of [
    ['declared', (socket: Socket) => startDeclared(socket, 2 * LIMIT_BYTES)],
    ['chunked', (socket: Socket) => startChunked(socket, 2 * LIMIT_BYTES)],
  ] as const) {
    check(`${name}, sent without waiting, still gets its answer, ten times of ten`, async () => {
      for (let round = 0; round < 10; round += 1) {
        const { responses, tookMs } = await ask(connect);
        assertError(responses[0], 413, 'body_too_large');
        assert.ok(tookMs < 3_000, `${tookMs} ms`);
      }
    });
  }

  check('gets its answer through fetch, five times of five', async () => {
    const body = Buffer.alloc(2 * LIMIT_BYTES, ' ');
    for (let round = 0; round < 5; round += 1) {
      const headers = { authorization: `Bearer ${deployment.apiToken}` };
      const response = await fetch(deployment.url + CHAT, { method: 'POST', headers, body });
      assert.equal(response.status, 413);
      const { error } = (await response.json()) as { error: { code: string } };
      assert.equal(error.code, 'body_too_large');
    }
  });

  check('gets its answer through node:http, five times of five', async () => {
    for (let round = 0; round < 5; round += 1)
      assert.equal(await sendThroughHttp(deployment.url + CHAT, deployment.apiToken, 2 * LIMIT_BYTES), 413);
  });

  check('chunked, is refused at the byte that goes over', async () => {
    const { responses, tookMs } = await ask((socket) => startChunked(socket, LIMIT_BYTES + 128 * 1024));
    assertError(responses[0], 413, 'body_too_large');
    assert.ok(tookMs < 3_000, `${tookMs} ms`);
  });

  check('of one gigabyte, chunked, ends within bounded time, bytes and memory', async () => {
    const before = await probe.collect();
    const { responses, tookMs, sentBytes, ended } = await ask((socket) => startChunked(socket, 1024 * MIB), {
      untilClosed: true,
      timeoutMs: 10_000,
    });
    assertError(responses[0], 413, 'body_too_large');
    assert.notEqual(ended, null, 'the connection stays open');
    const { rssBytes } = await probe.read();
    more['gigabyte_ms'] = Math.round(tookMs);
    more['gigabyte_sent_bytes'] = sentBytes;
    more['gigabyte_rss_bytes'] = rssBytes - before.rssBytes;
    assert.ok(tookMs < 5_000, `${tookMs} ms`);
    assert.ok(sentBytes < 100 * MIB, `${sentBytes} bytes were taken`);
    assert.ok(rssBytes - before.rssBytes < 150 * MIB, `${rssBytes - before.rssBytes} bytes more`);
  });

  check('of the very size of the limit is served', async () => {
    const frame = JSON.stringify({ ...plain, padding: '' });
    const body = JSON.stringify({ ...plain, padding: 'x'.repeat(LIMIT_BYTES - frame.length) });
    assert.equal(body.length, LIMIT_BYTES);
    assert.equal((await post(body)).status, 200);
  });

  check('from a stranger gets 401 and not a reset', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { responses } = await ask((socket) => {
        socket.write(`POST ${CHAT} HTTP/1.1\r\nhost: relay\r\ncontent-length: ${2 * LIMIT_BYTES}\r\n\r\n`);
        pumpPlain(socket, 2 * LIMIT_BYTES);
      });
      assertError(responses[0], 401, 'missing_api_key');
    }
  });

  check('on management is refused at one mebibyte', async () => {
    const fields = { authorization: `Bearer ${deployment.adminToken}`, 'content-type': 'application/json' };
    const { responses } = await ask((socket) =>
      socket.write(head('/api/relay/providers', { ...fields, 'content-length': String(MIB + 1) })),
    );
    assertError(responses[0], 413, 'body_too_large');
  });
});

function startDeclared(socket: Socket, bytes: number): void {
  socket.write(head(CHAT, { 'content-length': String(bytes) }));
  pumpPlain(socket, bytes);
}

function startChunked(socket: Socket, bytes: number): void {
  socket.write(head(CHAT, { 'transfer-encoding': 'chunked' }));
  pumpChunked(socket, bytes);
}

describe('a body that is not what it should be', () => {
  const operations = [
    [CHAT, 'messages'],
    ['/v1/responses', 'input'],
    ['/v1/embeddings', 'input'],
  ] as const;
  for (const [path, field] of operations) {
    for (const kind of ['arrays', 'objects', 'both'] as const) {
      check(`${path}: ${kind} nested 100,000 deep get 400 at once`, async () => {
        const before = upstreamCalls();
        const body = nested(100_000, kind, field);
        const startMs = performance.now();
        assertError(await post(body, path), 400, 'invalid_json');
        assert.ok(performance.now() - startMs < 500, `${performance.now() - startMs} ms`);
        assert.equal(upstreamCalls(), before);
      });
    }
  }

  for (const [what, body] of malformedBodies) {
    check(`${what}: 400`, async () => {
      const before = upstreamCalls();
      assertError(await post(body), 400);
      assert.equal(upstreamCalls(), before);
    });
  }

  check('a name repeated two million times costs bounded time and memory', async () => {
    const before = await probe.collect();
    const body = `{${'"model":0,'.repeat(2_000_000)}"model":"bounds-lane","messages":[{"role":"user","content":"x"}]}`;
    const startMs = performance.now();
    assertError(await post(body), 400, 'invalid_request');
    const { rssBytes } = await probe.read();
    more['repeated_name_ms'] = Math.round(performance.now() - startMs);
    more['repeated_name_rss_bytes'] = rssBytes - before.rssBytes;
    assert.ok(performance.now() - startMs < 2_000, `${performance.now() - startMs} ms`);
    assert.ok(rssBytes - before.rssBytes < 200 * MIB, `${rssBytes - before.rssBytes} bytes more`);
  });
});

describe('a request that takes its time', () => {
  check('with its headers is cut at the deadline, a hundred at once', async () => {
    const all = await slowHeaders;
    for (const { responses, ended, tookMs } of all) {
      assert.notEqual(ended, null, 'the connection stays open');
      assert.ok(tookMs < HEADERS_DEADLINE_MS + 3_000, `${tookMs} ms`);
      if (responses[0] !== undefined) assertError(responses[0], 408, 'request_timeout');
    }
    const answered = all.filter(({ responses }) => responses.length > 0).length;
    assert.ok(answered > 0, 'nobody was told why');
  });

  check('with its body is cut at the deadline', async () => {
    // The short deadline applies from the first request on.
    await fetch(`${hasty.url}/livez`);
    const { responses, ended, tookMs } = await talk({
      url: hasty.url,
      send: (socket) => {
        socket.write(head(CHAT, { 'content-length': '1000' }));
        drip(socket, 200);
      },
      untilClosed: true,
      timeoutMs: 10_000,
    });
    assertError(responses[0], 408, 'request_timeout');
    assert.notEqual(ended, null, 'the connection stays open');
    assert.ok(tookMs < 6_000, `${tookMs} ms`);
  });

  check('and gives up half-way leaves nothing behind', async () => {
    const before = upstreamCalls();
    const { responses } = await ask(
      (socket) => {
        socket.write(head(CHAT, { 'content-length': '1000' }));
        socket.end('{"model":');
      },
      { untilClosed: true },
    );
    if (responses[0] !== undefined) assert.equal(responses[0].status, 400);
    assert.equal(upstreamCalls(), before);
  });
});

function sendSlowHeaders(index: number): Promise<Conversation> {
  return ask(
    (socket) => {
      // Some connections send nothing.
      if (index % 10 === 0) return;
      socket.write(`POST ${CHAT} HTTP/1.1\r\nhost: relay\r\nx-slow: `);
      drip(socket, 1_000);
    },
    { untilClosed: true, timeoutMs: HEADERS_DEADLINE_MS + 6_000 },
  );
}

describe('a request that is odd but legal', () => {
  const body = JSON.stringify(plain);
  const fields = { 'content-length': String(body.length), 'content-type': 'application/json' };

  check('two in one packet get two answers in order', async () => {
    const chat = head(CHAT, fields) + body;
    const models = head('/v1/models', {}, 'GET');
    const { responses } = await ask((socket) => socket.write(chat + models), { responses: 2 });
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 200],
    );
    assert.match(responses[0]?.body ?? '', /"chat.completion"/);
    assert.match(responses[1]?.body ?? '', /"list"/);
  });

  check('that expects 100 Continue gets it, and then its answer', async () => {
    const { responses } = await ask((socket) => {
      socket.write(head(CHAT, { ...fields, expect: '100-continue' }));
      socket.once('data', () => socket.write(body));
    });
    assert.deepEqual(
      responses.map(({ status }) => status),
      [100, 200],
    );
  });

  check('of a stranger that expects 100 Continue gets 401 and is not asked for its body', async () => {
    const { responses } = await ask((socket) =>
      socket.write(head(CHAT, { ...fields, authorization: 'Bearer wrong', expect: '100-continue' })),
    );
    assertError(responses[0], 401, 'invalid_api_key');
  });

  check('on management that expects 100 Continue gets it', async () => {
    const provider = JSON.stringify({
      name: 'Expected',
      base_url: 'https://example.com/v1',
      auth_mode: 'none',
      enabled: false,
    });
    const more = {
      authorization: `Bearer ${deployment.adminToken}`,
      'content-type': 'application/json',
      'content-length': String(provider.length),
      expect: '100-continue',
    };
    const { responses } = await ask((socket) => {
      socket.write(head('/api/relay/providers', more));
      socket.once('data', () => socket.write(provider));
    });
    assert.deepEqual(
      responses.map(({ status }) => status),
      [100, 201],
    );
  });

  for (const target of ['http://relay.example', 'HTTPS://relay.example:8443']) {
    check(`that names the whole address ${target} is served`, async () => {
      const { responses } = await ask((socket) => socket.write(head(target + CHAT, fields) + body));
      assert.equal(responses[0]?.status, 200, responses[0]?.body);
      const probes = await ask((socket) => socket.write(head(`${target}/livez?x`, {}, 'GET')));
      assert.equal(probes.responses[0]?.status, 200);
    });
  }

  check('that names the whole address goes through the same door', async () => {
    const { responses } = await ask((socket) =>
      socket.write(head(`http://relay.example/api/relay/providers`, {}, 'GET')),
    );
    assertError(responses[0], 401, 'invalid_api_key');
  });

  check('of HTTP/1.0 is served', async () => {
    const request = (head(CHAT, fields) + body).replace('HTTP/1.1', 'HTTP/1.0');
    const { responses } = await ask((socket) => socket.write(request), { untilClosed: true });
    assert.equal(responses[0]?.status, 200);
  });

  check('in chunks of one byte is served', async () => {
    const chunks = [...body].map((letter) => `1\r\n${letter}\r\n`).join('');
    const { responses } = await ask((socket) =>
      socket.write(`${head(CHAT, { 'transfer-encoding': 'chunked' })}${chunks}0\r\n\r\n`),
    );
    assert.equal(responses[0]?.status, 200);
  });

  const methods: [string, string, number][] = [
    ['HEAD', CHAT, 405],
    ['OPTIONS', CHAT, 405],
    ['GET', CHAT, 405],
    ['DELETE', '/v1/models', 405],
    ['OPTIONS', '*', 404],
    ['GET', `/v1/${'x'.repeat(8_000)}`, 404],
    ['GET', '/v1/../api/relay/providers', 404],
    ['POST', '/v1//chat/completions', 404],
    ['POST', '/v1/chat/completions//', 404],
    ['GET', '/v1/models/../../api/relay/providers', 404],
    ['GET', '/v1/models/..%2f..%2fapi', 404],
  ];
  for (const [method, path, status] of methods) {
    check(`${method} ${path.slice(0, 40)} gets ${status}`, async () => {
      const { responses } = await ask((socket) => socket.write(head(path, {}, method)));
      assert.equal(responses[0]?.status, status);
      assert.match(String(responses[0]?.headers['x-request-id']), /^[0-9a-f-]{36}$/);
      if (status === 405) assert.ok(responses[0]?.headers['allow']);
    });
  }

  check('that asks for a websocket gets no websocket', async () => {
    const { responses } = await ask((socket) =>
      socket.write(head(CHAT, { connection: 'upgrade', upgrade: 'websocket' }, 'GET')),
    );
    assert.equal(responses[0]?.status, 426);
  });
});

describe('bytes that are no request', () => {
  const body = JSON.stringify(plain);
  const length = String(body.length);
  for (const [what, bytes, status] of unreadableRequests) {
    check(`${what}: ${status}, and the connection is closed`, async () => {
      const before = upstreamCalls();
      const { responses, ended } = await ask((socket) => socket.write(bytes(head)), { untilClosed: true });
      assertError(responses[0], status);
      assert.equal(responses.length, 1);
      assert.notEqual(ended, null, 'the connection stays open');
      assert.equal(upstreamCalls(), before);
    });
  }

  check('an expectation nobody can meet: 417', async () => {
    const { responses } = await ask((socket) => socket.write(head(CHAT, { expect: 'the impossible' })));
    assertError(responses[0], 417);
  });

  check('CONNECT gets 405, and nothing behind it is served', async () => {
    const before = upstreamCalls();
    const behind = head(CHAT, { 'content-length': length }) + body;
    const { responses, ended } = await ask(
      (socket) => socket.write(head('relay:443', {}, 'CONNECT') + behind),
      { untilClosed: true },
    );
    assertError(responses[0], 405);
    assert.equal(responses.length, 1);
    assert.notEqual(ended, null);
    assert.equal(upstreamCalls(), before);
  });

  check('frames behind the handshake of a WebSocket are not read as requests', async () => {
    const before = upstreamCalls();
    const handshake = head('/v1/responses', { connection: 'upgrade', upgrade: 'websocket' }, 'GET');
    const { responses, ended } = await ask(
      (socket) => socket.write(`${handshake}\x81\x85\x00\x00\x00\x00hello`),
      {
        untilClosed: true,
      },
    );
    assertError(responses[0], 426);
    assert.ok(responses.slice(1).every(({ status }) => status === 400));
    assert.notEqual(ended, null, 'the connection stays open');
    assert.equal(upstreamCalls(), before);
  });

  check('garbage behind a request ends the connection and nothing else', async () => {
    const request = head(CHAT, { 'content-length': length }) + body;
    for (const garbage of ['\x00\x01\x02 garbage \xff\r\n\r\n', 'GARBAGE', 'x'.repeat(30_000)]) {
      const { responses, ended } = await ask((socket) => socket.write(request + garbage), {
        untilClosed: true,
        timeoutMs: 15_000,
      });
      assert.ok(responses.length >= 1);
      for (const { status } of responses) assert.ok([200, 400, 408, 431].includes(status), String(status));
      assert.notEqual(ended, null, 'the connection stays open');
    }
  });
});

describe('after all that', () => {
  check('the server answers as ever', async () => {
    assert.equal((await post(JSON.stringify(plain))).status, 200);
    for (const path of ['/livez', '/readyz']) assert.equal((await fetch(deployment.url + path)).status, 200);
  });

  check('its memory is bounded', async () => {
    const { rssBytes } = await probe.collect();
    more['rss_growth_bytes'] = rssBytes - rssBytesBefore;
    assert.ok(rssBytes - rssBytesBefore < RSS_GROWTH_BYTES_MAX, `${rssBytes - rssBytesBefore} bytes more`);
  });

  check('nothing was logged as a defect', async () => {
    const errors = deployment.processes.flatMap(({ logs }) => logs).filter(({ level }) => level === 'error');
    assert.deepEqual(errors, []);
  });
});
