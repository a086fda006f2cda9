import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { createConnection } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import { digestOfBody } from '../../domain/body-digest.ts';
import type { Caller } from '../../domain/caller.ts';
import { snapshot } from '../../domain/snapshot.fixture.ts';
import { type Listener, listen } from '../../http/listener.ts';
import { systemClock } from '../../kit/clock.ts';
import { createLog } from '../../kit/log.ts';
import { createUsedContexts } from '../../store/keys/used-contexts.ts';
import { createRedis, type Redis } from '../../store/redis/redis.ts';
import { contextFor, newKeyPair } from './context.fixture.ts';
import type { Context } from './context.ts';
import { createContextGate } from './context-gate.ts';
import { createContextSigner } from './sign-context.ts';
import { createContextVerifier } from './verify-context.ts';

const PATH = '/v1/chat/completions?trace=1';
const platform = newKeyPair();
const sign = createContextSigner({ seed: platform.seed, clock: systemClock });
const log = createLog('silent');
const budget = {
  id: 'b',
  kind: 'api_key',
  subjectId: 'k',
  targetType: 'global',
  targetId: null,
  metric: 'requests',
  period: 'day',
  limitValue: 1,
} as const;

let redisServer: PrivateRedis;
let redis: Redis;
let listener: Listener;
/** The requests that passed the gate, with their ids. */
const letIn: { requestId: string; caller: Caller }[] = [];
const versionsAsked: number[] = [];

/** Sends one request as bytes and returns status and body. */
async function send(lines: readonly string[], start = `POST ${PATH} HTTP/1.1`, body = '{}') {
  const socket = createConnection(Number(new URL(listener.address).port), '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  const length = start.startsWith('POST') ? [`content-length: ${body.length}`] : [];
  const head = [start, 'host: relay', 'connection: close', ...length, ...lines].join('\r\n');
  socket.write(`${head}\r\n\r\n${body}`);
  await new Promise((resolve) => socket.on('close', resolve));
  const text = Buffer.concat(chunks).toString();
  return { status: Number(text.slice(9, 12)), text };
}

const signed = (over: Partial<Context> = {}) => sign(contextFor({ target: PATH, ...over }));

describe('the gate of inference', () => {
  before(async () => {
    redisServer = await startRedis();
    redis = createRedis({ url: redisServer.url, clock: systemClock, log, commandTimeoutMs: 150 });
    await redis.whenReady(60_000);
    listener = await listen(
      { host: '127.0.0.1', port: 0 },
      {
        newRequestId: randomUUIDv7,
        publicUrl: 'http://relay.example',
        health: () => ({ draining: false, version: '1.0.0', role: 'all', checks: {} }),
        inference: createContextGate({
          verify: createContextVerifier({ publicKeys: [platform.publicKey], clock: systemClock }),
          used: createUsedContexts({ redis, clock: systemClock, lifeMs: 60_000 }),
          snapshotAtLeast: (organizationId, version) => {
            versionsAsked.push(version);
            return { ...snapshot({}), organizationId, version, plan: 'team' };
          },
          keyTermsOf: async () => ({ policies: [budget], teamId: 't', labels: { app: 'search' } }),
          publicUrl: 'http://relay.example',
          log,
          inner: (authenticate) => async (request, response, requestId) => {
            letIn.push({ requestId, caller: await authenticate(request) });
            request.resume();
            response.end('through');
          },
        }),
        everythingElse: (_request, response) => void response.writeHead(404).end(),
        headersTimeoutMs: 2_000,
        requestTimeoutMs: 2_000,
      },
    );
  });
  after(async () => {
    await listener.drain(0);
    await redis.close();
    await redisServer.remove();
  });

  it('lets a signed request through once, under the id it was signed with, as the caller it was signed for', async () => {
    letIn.length = 0;
    const context = contextFor({ target: PATH, configVersion: 41 });
    const token = await sign(context);
    const { status, text } = await send([`X-Relay-Context: ${token}`]);
    assert.equal(status, 200, text);
    const [{ requestId, caller } = { requestId: '', caller: undefined }] = letIn;
    assert.equal(requestId, context.requestId);
    assert.deepEqual(caller, {
      ...context.caller,
      access: { granted: context.caller.scopes, permissions: context.caller.scopes, plan: 'team' },
      keyPolicies: [budget],
      keyTeamId: 't',
      labels: { app: 'search' },
      bodyDigest: context.bodyDigest,
    });
    assert.equal(versionsAsked.at(-1), 41);
    assert.equal((await send([`x-relay-context: ${token}`])).status, 401);
    assert.equal(letIn.length, 1);
  });

  it('has no key budgets and no grant for a session', async () => {
    letIn.length = 0;
    const { caller } = contextFor();
    const session = { ...caller, kind: 'session' as const, keyId: null, sessionId: 's' };
    await send([`x-relay-context: ${await signed({ caller: session })}`]);
    assert.deepEqual(letIn[0]?.caller.keyPolicies, []);
    assert.equal(letIn[0]?.caller.access.granted, null);
  });

  const refused: [string, () => Promise<Parameters<typeof send>>][] = [
    ['no context', async () => [['authorization: Bearer rly_x', 'cookie: relay_session=x']]],
    ['an empty context', async () => [['x-relay-context:']]],
    [
      'two contexts',
      async () => [[`x-relay-context: ${await signed()}`, `X-Relay-Context: ${await signed()}`]],
    ],
    [
      'the same twice',
      async () => {
        const token = await signed();
        return [[`x-relay-context: ${token}`, `X-RELAY-CONTEXT: ${token}`]];
      },
    ],
    ['two in one header', async () => [[`x-relay-context: ${await signed()}, ${await signed()}`]]],
    ['an underscore for a dash', async () => [[`x_relay_context: ${await signed()}`]]],
    ['a look-alike beside it', async () => [[`x-relay-context: ${await signed()}`, 'x-relay_context: x']]],
    [
      'another of our headers beside it',
      async () => [[`x-relay-context: ${await signed()}`, 'X-Relay-User-Id: x']],
    ],
    ['another method', async () => [[`x-relay-context: ${await signed({ method: 'GET' })}`]]],
    ['another path', async () => [[`x-relay-context: ${await signed({ target: '/v1/embeddings' })}`]]],
    [
      'another query',
      async () => [[`x-relay-context: ${await signed({ target: '/v1/chat/completions?trace=2' })}`]],
    ],
    ['no query', async () => [[`x-relay-context: ${await signed({ target: '/v1/chat/completions' })}`]]],
    [
      'a body on a GET',
      async () => {
        const token = await signed({
          method: 'GET',
          target: '/v1/models',
          bodyDigest: digestOfBody(Buffer.from('')),
        });
        return [[`x-relay-context: ${token}`, 'content-length: 2'], 'GET /v1/models HTTP/1.1'];
      },
    ],
    [
      'a chunked body on a GET',
      async () => {
        const token = await signed({
          method: 'GET',
          target: '/v1/models',
          bodyDigest: digestOfBody(Buffer.from('')),
        });
        return [
          [`x-relay-context: ${token}`, 'transfer-encoding: chunked'],
          'GET /v1/models HTTP/1.1',
          '0\r\n\r\n',
        ];
      },
    ],
    [
      'a GET signed with a body',
      async () => [
        [`x-relay-context: ${await signed({ method: 'GET', target: '/v1/models' })}`],
        'GET /v1/models HTTP/1.1',
        '',
      ],
    ],
    ['a path that is not served', async () => [[], 'POST /v1/unknown HTTP/1.1']],
  ];
  for (const [what, given] of refused) {
    it(`answers 401 to ${what}`, async () => {
      letIn.length = 0;
      const { status, text } = await send(...(await given()));
      assert.equal(status, 401, text);
      assert.match(text, /"code":"invalid_context"/);
      assert.deepEqual(letIn, []);
    });
  }

  it('lets a GET through that was signed without a body', async () => {
    const token = await signed({
      method: 'GET',
      target: '/v1/models',
      bodyDigest: digestOfBody(Buffer.alloc(0)),
    });
    assert.equal((await send([`x-relay-context: ${token}`], 'GET /v1/models HTTP/1.1', '')).status, 200);
  });

  it('answers 503 while it is unknown whether a context was used, and works again afterwards', async () => {
    letIn.length = 0;
    redisServer.pause();
    const { status, text } = await send([`x-relay-context: ${await signed()}`]);
    redisServer.resume();
    assert.equal(status, 503, text);
    assert.match(text, /"code":"policy_unavailable"/);
    assert.match(text, /retry-after: 1/i);
    assert.deepEqual(letIn, []);
    await redis.whenReady(60_000);
    assert.equal((await send([`x-relay-context: ${await signed()}`])).status, 200);
  });
});
