import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Fault } from '@relay/provider-sim';
import OpenAI from 'openai';
import { type ClientDeployment, callNames, weatherQuestion } from './client-deployment.ts';

const [lane] = callNames;
const question = { role: 'user', content: weatherQuestion } as const;

export function describeOpenAiFailures(place: () => ClientDeployment): void {
  const client = (more: ConstructorParameters<typeof OpenAI>[0] = {}) =>
    new OpenAI({ apiKey: place().apiToken, baseURL: place().baseUrl, maxRetries: 0, ...more });
  const ask = (sim: Fault, model: string = lane) => ({ model, messages: [question], sim });

  async function failure(promise: PromiseLike<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
    const error: unknown = await Promise.resolve(promise).then(
      () => assert.fail('it did not fail'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof OpenAI.APIError, String(error));
    return error;
  }

  describe('openai errors', () => {
    it('a wrong key is an AuthenticationError', async () => {
      const error = await failure(client({ apiKey: 'wrong' }).chat.completions.create(ask({})));
      assert.ok(error instanceof OpenAI.AuthenticationError);
      assert.equal(error.code, 'invalid_api_key');
      assert.match(error.requestID ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    });

    it('an unknown model is a BadRequestError that names the parameter', async () => {
      const error = await failure(client().chat.completions.create(ask({}, 'no-such-model')));
      assert.ok(error instanceof OpenAI.BadRequestError);
      assert.equal(error.code, 'model_not_found');
      assert.equal(error.param, 'model');
      assert.equal((error.error as { request_id: string }).request_id, error.requestID);
    });

    it('a route that does not exist is a NotFoundError', async () => {
      const error = await failure(client().completions.create({ model: lane, prompt: 'x' }));
      assert.ok(error instanceof OpenAI.NotFoundError);
      assert.equal(error.code, 'route_not_found');
    });

    it('what the provider refuses keeps its words', async () => {
      const error = await failure(client().chat.completions.create({ ...ask({}), temperature: 99 }));
      assert.ok(error instanceof OpenAI.BadRequestError);
      assert.equal(error.param, 'temperature');
      assert.equal(error.headers?.get('x-relay-error-source'), 'upstream');
    });

    const classes: [number, abstract new (...args: never[]) => Error][] = [
      [400, OpenAI.BadRequestError],
      [404, OpenAI.NotFoundError],
      [409, OpenAI.ConflictError],
      [422, OpenAI.UnprocessableEntityError],
      [429, OpenAI.RateLimitError],
      [500, OpenAI.InternalServerError],
      [503, OpenAI.InternalServerError],
    ];
    for (const [status, expected] of classes) {
      it(`the provider's ${status} is a ${expected.name}, streaming or not`, async () => {
        for (const stream of [false, true]) {
          const error = await failure(client().chat.completions.create({ ...ask({ status }), stream }));
          assert.ok(error instanceof expected, error.name);
          assert.equal(error.status, status);
          assert.equal(error.headers?.get('x-relay-error-source'), 'upstream');
          assert.match(error.requestID ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
        }
      });
    }

    it('a provider that refuses our credential is an InternalServerError of ours, not an AuthenticationError', async () => {
      for (const status of [401, 402, 403, 407]) {
        const error = await failure(client().chat.completions.create(ask({ status })));
        assert.ok(error instanceof OpenAI.InternalServerError);
        assert.deepEqual([error.status, error.code], [502, 'upstream_credential_refused']);
      }
    });

    it('a provider that cannot be understood is an InternalServerError of ours', async () => {
      const error = await failure(client().chat.completions.create(ask({ cutBeforeHeaders: true })));
      assert.ok(error instanceof OpenAI.InternalServerError);
      assert.equal(error.status, 502);
      assert.equal(error.code, 'upstream_unreachable');
    });

    it('a RateLimitError tells when to come back', async () => {
      const model = await place().laneOfItsOwn(100);
      const first = await failure(
        client().chat.completions.create(
          ask({ status: 429, retryAfter: '2', rateLimitHeaders: true }, model),
        ),
      );
      assert.ok(first instanceof OpenAI.RateLimitError);
      assert.equal(first.headers?.get('retry-after'), '2');
      assert.equal(first.headers?.get('x-ratelimit-limit-requests'), null);
      const second = await failure(client().chat.completions.create(ask({}, model)));
      assert.ok(second instanceof OpenAI.RateLimitError);
      assert.equal(second.code, 'rate_limit_wait_budget_exceeded');
      const waitMs = Number(second.headers?.get('retry-after-ms'));
      assert.ok(waitMs > 500 && waitMs <= 2_000, String(waitMs));
      assert.equal(Number(second.headers?.get('retry-after')), Math.ceil(waitMs / 1_000));
    });

    it('a stream that breaks after content is an error to the reader, not an end', async () => {
      const body = { ...ask({ frames: 10, cutAfterFrames: 5 }), stream: true as const };
      const stream = await client().chat.completions.create(body);
      let frames = 0;
      const error = await failure(
        (async () => {
          for await (const _chunk of stream) frames += 1;
        })(),
      );
      assert.equal(error.code, 'stream_interrupted');
      assert.equal(frames, 5);
    });
  });

  describe('openai aborts', () => {
    const aborted = (after: number) =>
      place().provider.waitFor(({ id, outcome }) => id > after && outcome === 'aborted_by_client');
    const lastId = () => place().provider.log.at(-1)?.id ?? 0;

    it('in the middle of a stream stop the provider', async () => {
      const before = lastId();
      const stream = await client().chat.completions.create({
        ...ask({ frames: 500, frameDelayMs: 20 }),
        stream: true,
      });
      let frames = 0;
      for await (const _chunk of stream) {
        frames += 1;
        if (frames === 3) stream.controller.abort();
      }
      const entry = await aborted(before);
      assert.ok(entry.framesSent < 100, String(entry.framesSent));
    });

    it('by leaving the loop stop the provider, in responses too', async () => {
      const before = lastId();
      const stream = await client().responses.create({
        model: lane,
        input: weatherQuestion,
        stream: true as const,
        sim: { frames: 500, frameDelayMs: 20 },
      } as OpenAI.Responses.ResponseCreateParamsStreaming);
      for await (const event of stream) if (event.type === 'response.output_text.delta') break;
      const entry = await aborted(before);
      assert.ok(entry.framesSent < 100, String(entry.framesSent));
    });

    it('before the answer stop the provider', async () => {
      const before = lastId();
      const controller = new AbortController();
      const answer = client().chat.completions.create(ask({ stallBeforeHeaders: true }), {
        signal: controller.signal,
      });
      const reason = failure(answer);
      await place().provider.waitFor(({ id, fault }) => id > before && fault?.stallBeforeHeaders === true);
      controller.abort();
      assert.ok((await reason) instanceof OpenAI.APIUserAbortError);
      await aborted(before);
    });

    it('by the client’s own timeout are an APIConnectionTimeoutError and stop the provider', async () => {
      const before = lastId();
      const answer = client().chat.completions.create(ask({ stallBeforeHeaders: true }), { timeout: 250 });
      assert.ok((await failure(answer)) instanceof OpenAI.APIConnectionTimeoutError);
      await aborted(before);
    });
  });

  describe('openai retries', () => {
    /** Counts what the library sends, and when. */
    function counting(more: ConstructorParameters<typeof OpenAI>[0]): { openai: OpenAI; sentMs: number[] } {
      const sentMs: number[] = [];
      const openai = client({
        ...more,
        fetch: (input, init) => {
          sentMs.push(performance.now());
          return fetch(input, init);
        },
      });
      return { openai, sentMs };
    }

    for (const [status, name, value, waitMs] of [
      [429, 'retry-after-ms', '150', 150],
      [503, 'retry-after-ms', '150', 150],
      [429, 'retry-after', '1', 1_000],
      [503, 'retry-after', '1', 1_000],
    ] as const) {
      it(`after a provider's ${status} come when its ${name} says, and succeed`, async () => {
        const model = await place().laneOfItsOwn(100);
        place().provider.script({
          match: { model: 'sim-chat' },
          fault: { status, headers: { [name]: value } },
        });
        const { openai, sentMs } = counting({ maxRetries: 1 });
        const answer = await openai.chat.completions.create(ask({}, model));
        assert.ok(answer.id);
        assert.equal(sentMs.length, 2);
        const tookMs = (sentMs[1] ?? 0) - (sentMs[0] ?? 0);
        assert.ok(tookMs >= waitMs && tookMs < waitMs + 400, String(tookMs));
      });
    }

    it('after a refusal of ours come when retry-after-ms says, and are admitted', async () => {
      const model = await place().laneOfItsOwn(100);
      await failure(client().chat.completions.create(ask({ status: 429, retryAfter: '1' }, model)));
      place().newRequests();
      const { openai, sentMs } = counting({ maxRetries: 1 });
      const answer = await openai.chat.completions.create(ask({}, model));
      assert.ok(answer.id);
      assert.equal(sentMs.length, 2);
      const tookMs = (sentMs[1] ?? 0) - (sentMs[0] ?? 0);
      assert.ok(tookMs > 500 && tookMs < 1_200, String(tookMs));
      assert.equal(place().newRequests().length, 1);
    });

    it('do not happen when waiting is pointless: x-should-retry is false', async () => {
      const model = await place().laneOfItsOwn(100);
      await failure(client().chat.completions.create(ask({ status: 429, retryAfter: '120' }, model)));
      const { openai, sentMs } = counting({ maxRetries: 3 });
      const error = await failure(openai.chat.completions.create(ask({}, model)));
      assert.ok(error instanceof OpenAI.RateLimitError);
      assert.equal(error.headers?.get('x-should-retry'), 'false');
      assert.ok(Number(error.headers?.get('retry-after')) > 100);
      assert.equal(sentMs.length, 1);
    });

    it('do not happen for what a client did wrong', async () => {
      const { openai, sentMs } = counting({ maxRetries: 3 });
      await failure(openai.chat.completions.create(ask({}, 'no-such-model')));
      assert.equal(sentMs.length, 1);
    });

    it('and everything else the library says of itself stay between it and the gateway', async () => {
      place().newRequests();
      const openai = client({
        organization: 'org-of-client',
        defaultHeaders: { 'x-relay-priority': '1', cookie: 'a=b', 'x-forwarded-for': '10.0.0.1' },
      });
      await openai.chat.completions.create(ask({}));
      const [entry] = place().newRequests();
      assert.deepEqual(entry?.violations, []);
      const names = (entry?.rawHeaders ?? [])
        .filter((_, at) => at % 2 === 0)
        .map((name) => name.toLowerCase());
      assert.deepEqual(
        names.filter((name) => /^(?:x-|cookie|forwarded)/.test(name)),
        [],
      );
      assert.equal(entry?.key, 'sk-upstream');
    });
  });
}
