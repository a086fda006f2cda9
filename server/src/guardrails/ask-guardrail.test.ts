import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { guardrail } from '../domain/guardrails/guardrail.fixture.ts';
import type { Guardrail } from '../domain/guardrails/guardrail.ts';
import { createEgress, type Egress } from '../kit/egress/index.ts';
import { createLog } from '../kit/log.ts';
import { type AskGuardrail, createAskGuardrail } from './ask-guardrail.ts';

const values = {
  text: 'hello',
  stage: 'pre_dispatch',
  operation: 'chat',
  model: 'gpt',
  lane: '',
  requestId: 'r',
  messages: [],
  body: {},
} as const;
const ALLOW = '{"verdict":"allow"}';

describe('asking on behalf of requests', () => {
  let server: Server;
  let egress: Egress;
  let ask: AskGuardrail;
  let answer: (response: ServerResponse) => void;
  let calls: number;
  let nowMs: number;

  beforeEach(async () => {
    calls = 0;
    nowMs = 0;
    answer = (response) => response.end(ALLOW);
    server = createServer((request, response) => {
      calls += 1;
      request.resume().once('end', () => answer(response));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    egress = createEgress({
      allowedCidrs: ['127.0.0.0/8'],
      connectTimeoutMs: 1_000,
      connectionsPerOriginMax: 200,
      originsMax: 4,
    });
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    ask = createAskGuardrail({ egress, clock, log: createLog('silent') });
  });
  afterEach(async () => {
    await egress.close();
    server.closeAllConnections();
    await once(server.close(), 'close');
  });

  const one = (over: Partial<Guardrail> = {}) => {
    const { port } = server.address() as AddressInfo;
    return guardrail('g', { baseUrl: `http://127.0.0.1:${port}/`, ...over });
  };
  const causes = async (count: number, over: Partial<Guardrail> = {}) => {
    const found: (string | null)[] = [];
    for (let each = 0; each < count; each += 1) found.push((await ask('acme', one(over), values)).cause);
    return found;
  };

  it('makes at most 64 concurrent calls to one guardrail; a caller without a turn in time gets busy', async () => {
    const held: ServerResponse[] = [];
    let all: () => void = () => undefined;
    const reached = new Promise<void>((resolve) => {
      all = resolve;
    });
    answer = (response) => {
      held.push(response);
      if (held.length === 64) all();
    };
    const first = Array.from({ length: 64 }, () => ask('acme', one({ timeoutMs: 10_000 }), values));
    await reached;
    assert.equal((await ask('acme', one({ timeoutMs: 20 }), values)).cause, 'busy');
    const waiting = ask('acme', one({ timeoutMs: 10_000 }), values);
    assert.equal(calls, 64);
    answer = (response) => response.end(ALLOW);
    for (const response of held) response.end(ALLOW);
    assert.equal((await waiting).verdict, 'allowed');
    for (const each of await Promise.all(first)) assert.equal(each.verdict, 'allowed');
    assert.equal(calls, 65);
  });

  it('counts the wait for a turn in the time of a call', { timeout: 30_000 }, async () => {
    const held: ServerResponse[] = [];
    const reached = Promise.withResolvers<void>();
    answer = (response) => {
      held.push(response);
      if (held.length === 64) reached.resolve();
    };
    const first = Array.from({ length: 64 }, () => ask('acme', one({ timeoutMs: 60_000 }), values));
    await reached.promise;
    const waiting = ask('acme', one({ timeoutMs: 60_000 }), values);
    // Its turn comes when its time is over but for a millisecond, and the guardrail says nothing.
    nowMs = 59_999;
    answer = () => undefined;
    for (const response of held) response.end(ALLOW);
    await Promise.all(first);
    assert.equal((await waiting).cause, 'timeout');
  });

  it('gives the turn of a failed call to the next, after any number of failures', async () => {
    answer = (response) => void response.writeHead(500).end('{}');
    for (let each = 0; each < 80; each += 1) {
      nowMs += 1_000;
      assert.equal((await ask('acme', one({ timeoutMs: 2_000 }), values)).cause, 'bad_status');
    }
    nowMs += 1_000;
    answer = (response) => response.end(ALLOW);
    assert.equal((await ask('acme', one({ timeoutMs: 2_000 }), values)).verdict, 'allowed');
  });

  it('leaves a guardrail alone for a second after ten failures in a row, then tries one call', async () => {
    answer = (response) => void response.writeHead(500).end('{}');
    assert.deepEqual(new Set(await causes(10)), new Set(['bad_status']));
    assert.deepEqual(await causes(3), ['circuit_open', 'circuit_open', 'circuit_open']);
    assert.equal(calls, 10);
    nowMs = 1_000;
    assert.deepEqual(await causes(2), ['bad_status', 'circuit_open']);
    nowMs = 2_000;
    answer = (response) => response.end(ALLOW);
    assert.deepEqual(
      await causes(12),
      Array.from({ length: 12 }, () => null),
    );
  });

  it('does not take a guardrail for down that answers, or that was sent nothing', async () => {
    answer = (response) => response.end('{"ok":true}');
    assert.deepEqual(new Set(await causes(12)), new Set(['no_rule_matched']));
    assert.deepEqual(new Set(await causes(12, { maxRequestBytes: 1 })), new Set(['too_large']));
    answer = (response) => void response.writeHead(401).end('{}');
    assert.deepEqual(new Set(await causes(12)), new Set(['bad_status']));
  });

  it('starts with a closed circuit for a guardrail that was moved', async () => {
    await causes(10, { baseUrl: 'http://127.0.0.1:1/' });
    assert.deepEqual(await causes(1, { baseUrl: 'http://127.0.0.1:1/' }), ['circuit_open']);
    assert.deepEqual(await causes(1), [null]);
  });
});
