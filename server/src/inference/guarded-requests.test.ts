import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { GuardrailBinding } from '../domain/guardrails/guardrail.ts';
import {
  CHAT,
  CONCURRENCY,
  errorOf,
  type GuardedSite,
  LIMITS,
  limit,
  SAID,
  startGuardedSite,
} from './guarded-site.fixture.ts';

let site: GuardedSite;

const onProvider: GuardrailBinding = { targetType: 'provider', targetId: 'pa' };

describe('guarded requests', () => {
  beforeEach(async () => {
    site = await startGuardedSite();
  });
  afterEach(() => site.close());

  describe('a request that a guardrail blocks', () => {
    for (const [what, bindings] of [
      ['everything', undefined],
      ['its lane', [{ targetType: 'lane', targetId: 'fast' }]],
      ['its provider', [onProvider]],
      ['its endpoint', [{ targetType: 'endpoint', targetId: 'a' }]],
    ] as const) {
      it(`gets 403 and never reaches the provider, holding nothing (bound to ${what})`, async () => {
        site.gateway.organization = site.organize(
          [site.before('g', bindings === undefined ? {} : { bindings })],
          LIMITS,
        );
        site.judge.answer = (response) => response.end('{"verdict":"block","why":"question-canary"}');
        const answer = await site.answerTo(CHAT);
        assert.equal(answer.status, 403);
        const { code, guardrail_id, stage } = errorOf(answer);
        assert.deepEqual([code, guardrail_id, stage], ['content_policy_violation', 'g', 'pre_dispatch']);
        assert.ok(!answer.text.includes('canary'));
        assert.deepEqual(site.judge.heard[0]?.body, { text: 'question-canary', stage: 'pre_dispatch' });
        assert.equal(site.upstream.heard.length, 0);
        const record = await site.gateway.nthRecord(1);
        assert.deepEqual(
          [record.state, record.status, record.cause],
          ['failed', 403, 'content_policy_violation'],
        );
        assert.deepEqual(
          record.guardrails?.map(({ guardrailId, verdict }) => [guardrailId, verdict]),
          [['g', 'blocked']],
        );
        assert.ok(Number.isInteger(record.timings?.guardMs));
        assert.equal(record.usageSource, 'none');
        await site.nothingIsHeld();
      });
    }

    it('is not asked about by those after it', async () => {
      site.gateway.organization = site.organize([site.before('first'), site.before('second')]);
      site.judge.answer = (response, { path }) =>
        response.end(`{"verdict":"${path === '/first' ? 'block' : 'allow'}"}`);
      assert.equal((await site.answerTo(CHAT)).status, 403);
      assert.deepEqual(
        site.judge.heard.map(({ path }) => path),
        ['/first'],
      );
    });
  });

  describe('a guardrail that is unavailable', () => {
    it('closed: 503 with Retry-After, and nothing reaches the provider', async () => {
      site.gateway.organization = site.organize(
        [site.before('g', { baseUrl: 'http://127.0.0.1:1/' })],
        LIMITS,
      );
      const answer = await site.answerTo(CHAT);
      assert.deepEqual([answer.status, errorOf(answer)['code']], [503, 'guardrail_unavailable']);
      assert.equal(answer.headers['retry-after'], '1');
      assert.equal(site.upstream.heard.length, 0);
      const record = await site.gateway.nthRecord(1);
      assert.deepEqual(
        [record.guardrails?.[0]?.verdict, record.guardrails?.[0]?.cause],
        ['unavailable', 'unreachable'],
      );
      await site.nothingIsHeld();
    });

    it('open: the request continues, and the record says that it was not inspected', async () => {
      site.gateway.organization = site.organize([site.before('g', { failureMode: 'fail_open' })]);
      site.judge.answer = (response) => response.end('{"verdict":"who knows"}');
      assert.equal((await site.answerTo(CHAT)).status, 200);
      assert.equal((await site.gateway.nthRecord(1)).guardrails?.[0]?.cause, 'no_rule_matched');
    });
  });

  describe('where a guardrail is asked', () => {
    it('bound to everything or a lane, it holds no capacity while it thinks', async () => {
      site.gateway.organization = site.organize([site.before('g')], LIMITS);
      const held = site.holdJudge();
      const { answered } = site.gateway.send(CHAT);
      await held.asked;
      assert.equal(site.gateway.asked.length, 0);
      held.say('allow');
      assert.equal((await answered)?.status, 200);
    });

    it('bound to a provider, it holds what was reserved there and gives it back with a block', async () => {
      site.gateway.organization = site.organize([site.before('g', { bindings: [onProvider] })], LIMITS);
      const held = site.holdJudge();
      const { answered } = site.gateway.send(CHAT);
      await held.asked;
      assert.equal(await site.gateway.usage('concurrency', 'concurrency'), 1);
      held.say('block');
      assert.equal((await answered)?.status, 403);
      await site.nothingIsHeld();
    });

    it('takes another slot when its guardrail thought past the one it had', async () => {
      site.gateway.organization = site.organize(
        [site.before('g', { bindings: [onProvider] })],
        [limit('s', 'requests', 'second', 10)],
      );
      site.judge.answer = (response) => void setTimeout(() => response.end('{"verdict":"allow"}'), 120);
      assert.equal((await site.answerTo(CHAT)).status, 200);
      assert.deepEqual(
        site.gateway.asked.map(({ release }) => release?.dispatched),
        [undefined, false],
      );
      assert.equal(site.judge.heard.length, 1);
      assert.equal(site.upstream.heard.length, 1);
    });

    it('is asked once, however many candidates the request comes to', async () => {
      site.gateway.organization = site.organize([
        site.before('g'),
        site.before('h', { bindings: [onProvider] }),
      ]);
      site.upstream.answer = (response, { path }) => {
        if (path.startsWith('/a/')) response.writeHead(500).end('{}');
        else response.end(JSON.stringify(SAID));
      };
      assert.equal((await site.answerTo(CHAT)).status, 200);
      assert.deepEqual(
        site.judge.heard.map(({ path }) => path),
        ['/g', '/h'],
      );
      assert.equal(site.upstream.heard.length, 2);
    });

    it('ends the request at the second candidate as at the first', async () => {
      const bindings: GuardrailBinding[] = [{ targetType: 'provider', targetId: 'pb' }];
      site.gateway.organization = site.organize([site.before('g', { bindings })], LIMITS);
      site.upstream.answer = (response) => void response.writeHead(500).end('{}');
      site.judge.answer = (response) => response.end('{"verdict":"block"}');
      assert.equal((await site.answerTo(CHAT)).status, 403);
      assert.equal(site.upstream.heard.length, 1);
      await site.gateway.nthRecord(1);
      // The first attempt took its request; the second was never sent and took nothing.
      assert.equal(await site.gateway.usage('requests', 'requests'), 1);
      assert.equal(await site.gateway.usage('concurrency', 'concurrency'), 0);
      assert.deepEqual(site.gateway.desk.counts(), { waiting: 0, dispatched: 0 });
    });
  });

  describe('what cannot be inspected', () => {
    const stream = { ...CHAT, stream: true };
    const embed = { model: 'fast', input: 'question-canary' };
    for (const bindings of [
      [{ targetType: 'global', targetId: null }],
      [{ targetType: 'endpoint', targetId: 'b' }],
    ] as const) {
      const [{ targetType }] = bindings;
      it(`is refused with 400 before anything is sent anywhere (${targetType})`, async () => {
        site.gateway.organization = site.organize([site.before('g', { bindings })], LIMITS);
        const streamed = await site.answerTo(stream);
        assert.deepEqual(
          [streamed.status, errorOf(streamed)['code']],
          [400, 'guardrail_streaming_unsupported'],
        );
        assert.equal(errorOf(streamed)['param'], 'stream');
        const embedded = await site.answerTo(embed, '/v1/embeddings');
        assert.deepEqual(
          [embedded.status, errorOf(embedded)['code']],
          [400, 'guardrail_route_kind_unsupported'],
        );
        assert.equal(errorOf(embedded)['param'], 'model');
        assert.deepEqual(
          [site.judge.heard.length, site.upstream.heard.length, site.gateway.asked.length],
          [0, 0, 0],
        );
      });
    }

    it('is a body of so many values that reading it would delay other requests', async () => {
      site.gateway.organization = site.organize([site.before('g')]);
      const many = { ...CHAT, metadata: Array.from({ length: 200_000 }, () => 1) };
      const answer = await site.answerTo(many);
      assert.deepEqual([answer.status, errorOf(answer)['code']], [400, 'invalid_request']);
      assert.deepEqual([site.judge.heard.length, site.upstream.heard.length], [0, 0]);
      site.gateway.organization = site.organize([]);
      assert.equal((await site.answerTo(many)).status, 200);
    });

    it('is a body that says a thing twice, of which provider and guardrail may read another half', async () => {
      site.gateway.organization = site.organize([site.before('g')]);
      const twice = '{"model":"fast","messages":[{"role":"user","content":"a","content":"b:\\":"}]}';
      const answer = await site.answerTo(twice);
      assert.deepEqual([answer.status, errorOf(answer)['code']], [400, 'invalid_request']);
      assert.deepEqual([site.judge.heard.length, site.upstream.heard.length], [0, 0]);
      site.gateway.organization = site.organize([]);
      assert.equal((await site.answerTo(twice)).status, 200);
    });
  });

  describe('a guardrail that is enabled while a request waits', () => {
    /** One request holds the only unit, another waits for it; then the guardrail is enabled. */
    async function enabledWhileWaiting(second: object) {
      site.gateway.organization = site.organize([], [CONCURRENCY]);
      let release: () => void = () => undefined;
      const dispatched = new Promise<void>((resolve) => {
        site.upstream.answer = (response) => {
          release = () => void response.end(JSON.stringify(SAID));
          resolve();
        };
      });
      const first = site.gateway.send(CHAT);
      await dispatched;
      const waiting = site.gateway.send(second);
      while (site.gateway.desk.counts().waiting === 0) await new Promise((resolve) => setImmediate(resolve));
      site.gateway.newest = { ...site.organize([site.before('g')], [CONCURRENCY]), version: 2 };
      site.upstream.answer = (response) => response.end(JSON.stringify(SAID));
      release();
      assert.equal((await first.answered)?.status, 200);
      return waiting.answered;
    }

    it('is asked before the dispatch', async () => {
      site.judge.answer = (response) => response.end('{"verdict":"block"}');
      assert.equal((await enabledWhileWaiting(CHAT))?.status, 403);
      assert.equal(site.upstream.heard.length, 1);
      assert.equal(site.judge.heard.length, 1);
      await site.gateway.nthRecord(2);
      assert.equal(await site.gateway.usage('concurrency', 'concurrency'), 0);
    });

    it('lets it through where it has nothing against it', async () => {
      assert.equal((await enabledWhileWaiting(CHAT))?.status, 200);
      assert.deepEqual([site.upstream.heard.length, site.judge.heard.length], [2, 1]);
    });

    it('makes a stream that waited 400, and it leaves nothing behind', async () => {
      const answer = await enabledWhileWaiting({ ...CHAT, stream: true });
      assert.equal(answer?.status, 400);
      assert.ok(answer?.text.includes('guardrail_streaming_unsupported'));
      assert.deepEqual([site.upstream.heard.length, site.judge.heard.length], [1, 0]);
      await site.gateway.nthRecord(2);
      assert.equal(await site.gateway.usage('concurrency', 'concurrency'), 0);
    });

    it('is asked before a second attempt', async () => {
      site.upstream.answer = (response) => {
        site.gateway.newest = { ...site.organize([site.before('g')]), version: 2 };
        response.writeHead(500).end('{}');
      };
      site.judge.answer = (response) => response.end('{"verdict":"block"}');
      assert.equal((await site.answerTo(CHAT)).status, 403);
      assert.equal(site.upstream.heard.length, 1);
    });
  });

  describe('a client that leaves while a guardrail thinks', () => {
    for (const [what, bindings] of [
      ['before admission', [{ targetType: 'global', targetId: null }]],
      ['after it', [onProvider]],
    ] as const) {
      it(`is cancelled, sent nowhere, and holds nothing (${what})`, async () => {
        site.gateway.organization = site.organize([site.before('g', { bindings })], LIMITS);
        const held = site.holdJudge();
        const sent = site.gateway.send(CHAT);
        await held.asked;
        sent.leave();
        const record = await site.gateway.nthRecord(1);
        held.say('allow');
        assert.equal(record.state, 'cancelled');
        assert.equal(site.upstream.heard.length, 0);
        await site.nothingIsHeld();
      });
    }
  });
});
