import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import type { Fault } from '@relay/provider-sim';
import { type ClientDeployment, messagesLane as lane, weatherQuestion } from './client-deployment.ts';

const question = { role: 'user', content: weatherQuestion } as const;
const OUR_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7/;
const tool: Anthropic.Tool = {
  name: 'get_weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

export function describeAnthropic(place: () => ClientDeployment): void {
  const client = (more: ConstructorParameters<typeof Anthropic>[0] = {}) =>
    new Anthropic({
      apiKey: place().apiToken,
      baseURL: place().baseUrl.replace(/\/v1$/, ''),
      maxRetries: 0,
      ...more,
    });
  const ask = (more: Partial<Anthropic.MessageCreateParamsNonStreaming> & { sim?: Fault } = {}) => ({
    model: lane,
    max_tokens: 100,
    messages: [question],
    ...more,
  });

  async function failure(promise: PromiseLike<unknown>): Promise<InstanceType<typeof Anthropic.APIError>> {
    const error: unknown = await Promise.resolve(promise).then(
      () => assert.fail('it did not fail'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof Anthropic.APIError, String(error));
    return error;
  }

  describe('anthropic', () => {
    it('a message: content, usage, and the request’s id where the library looks for it', async () => {
      const { data, response, request_id } = await client().messages.create(ask()).withResponse();
      assert.deepEqual([data.type, data.stop_reason], ['message', 'end_turn']);
      assert.ok(data.content[0]?.type === 'text' && data.content[0].text.length > 0);
      assert.ok(data.usage.input_tokens > 0 && data.usage.output_tokens > 0);
      assert.match(request_id ?? '', OUR_ID);
      assert.equal(request_id, response.headers.get('x-request-id'));
      assert.equal(response.headers.get('x-relay-selected-upstream-model'), 'sim-claude');
      const total = data.usage.input_tokens + data.usage.output_tokens;
      assert.equal(response.headers.get('x-relay-actual-total-tokens'), String(total));
    });

    it('a stream says what the whole message says', async () => {
      const whole = await client().messages.create(ask());
      const streamed = await client().messages.stream(ask()).finalMessage();
      assert.deepEqual(streamed.content, whole.content);
      assert.equal(streamed.usage.output_tokens, whole.usage.output_tokens);
    });

    it('tools: a call, streamed or not, and the way back with its result', async () => {
      const body = ask({ tools: [tool], tool_choice: { type: 'tool', name: tool.name } });
      const whole = await client().messages.create(body);
      const streamed = await client().messages.stream(body).finalMessage();
      assert.deepEqual(streamed.content, whole.content);
      const [call] = whole.content;
      assert.ok(call?.type === 'tool_use' && call.name === tool.name);
      const result = { type: 'tool_result' as const, tool_use_id: call.id, content: 'cold' };
      const last = await client().messages.create(
        ask({
          tools: [tool],
          messages: [
            question,
            { role: 'assistant', content: whole.content },
            { role: 'user', content: [result] },
          ],
        }),
      );
      assert.equal(last.content[0]?.type, 'text');
    });

    it('thinking and its signature, streamed or not', async () => {
      const body = ask({ max_tokens: 2_000, thinking: { type: 'enabled', budget_tokens: 1_024 } });
      const whole = await client().messages.create(body);
      const streamed = await client().messages.stream(body).finalMessage();
      assert.equal(whole.content[0]?.type, 'thinking');
      assert.deepEqual(streamed.content, whole.content);
    });

    it('reaches the provider with its own bytes, headers and no key of ours', async () => {
      place().newRequests();
      let sent = '';
      const anthropic = client({
        defaultHeaders: { 'anthropic-beta': 'one,two', 'x-relay-priority': '1' },
        fetch: (input, init) => {
          sent = String(init?.body);
          return fetch(input, init);
        },
      });
      await anthropic.messages.create(ask({ system: 'naïve \u2028', metadata: { user_id: 'u' } }));
      const [entry] = place().newRequests();
      assert.equal(entry?.body?.toString(), sent.replace(`"model":"${lane}"`, '"model":"sim-claude"'));
      assert.deepEqual([entry?.key, entry?.violations], ['sk-upstream', []]);
      const headers = new Map<string, string>();
      const raw = entry?.rawHeaders ?? [];
      for (let at = 0; at < raw.length; at += 2) headers.set(raw[at]?.toLowerCase() ?? '', raw[at + 1] ?? '');
      assert.equal(headers.get('anthropic-beta'), 'one,two');
      assert.match(headers.get('anthropic-version') ?? '', /^20\d\d-/);
      assert.deepEqual([headers.get('authorization'), headers.get('x-api-key')], [undefined, 'sk-upstream']);
    });

    it('takes the key in x-api-key as well, as older versions of the library send it', async () => {
      const older = client({
        apiKey: null,
        defaultHeaders: { 'x-api-key': place().apiToken, authorization: null },
      });
      assert.equal((await older.messages.create(ask())).type, 'message');
    });
  });

  describe('anthropic models and token counts', () => {
    it('tokens are counted by the provider, or estimated and marked where none can', async () => {
      const body = { messages: [question] };
      const counted = await client()
        .messages.countTokens({ model: lane, ...body })
        .withResponse();
      const { usage } = await client().messages.create(ask());
      assert.equal(counted.data.input_tokens, usage.input_tokens);
      assert.equal(counted.response.headers.get('x-relay-estimated'), null);
      const estimated = await client()
        .messages.countTokens({ model: 'client-lane', ...body })
        .withResponse();
      assert.ok(estimated.data.input_tokens > 0);
      assert.equal(estimated.response.headers.get('x-relay-estimated'), 'true');
    });

    it('models are listed over pages and read one by one', async () => {
      const all: string[] = [];
      for await (const model of client().models.list({ limit: 1 })) all.push(model.id);
      // Those that this protocol can call, as they are and translated, over several pages.
      for (const id of ['client-lane', lane, 'sim-claude', 'sim-multi']) assert.ok(all.includes(id), id);
      assert.equal(new Set(all).size, all.length);
      const found = await client().models.retrieve(lane);
      assert.deepEqual([found.type, found.id], ['model', lane]);
      const missing = await failure(client().models.retrieve('no-such-model'));
      assert.ok(missing instanceof Anthropic.NotFoundError);
      const headers = { 'x-api-key': place().apiToken, authorization: null };
      const older = client({ apiKey: null, defaultHeaders: headers });
      assert.ok((await older.models.list()).data.length > 0);
    });
  });

  describe('anthropic errors', () => {
    it('a wrong key is an AuthenticationError', async () => {
      const error = await failure(client({ apiKey: 'wrong' }).messages.create(ask()));
      assert.ok(error instanceof Anthropic.AuthenticationError);
      assert.equal(error.type, 'authentication_error');
      assert.match(error.requestID ?? '', OUR_ID);
    });

    it('an unknown model and what a lane of another protocol cannot be told are BadRequestErrors that say why', async () => {
      for (const [model, code, words] of [
        ['no-such-model', 'model_not_found', /No lane or model is named/],
        ['client-lane', 'no_route', /messages to chat: .{0,2}top_k.{0,2} cannot be translated/],
      ] as const) {
        const body = { ...ask({ model }), top_k: 5 };
        const error = await failure(client().messages.create(body));
        assert.ok(error instanceof Anthropic.BadRequestError);
        assert.equal(error.type, 'invalid_request_error');
        const { error: inner, request_id } = error.error as { error: { code: string }; request_id: string };
        assert.deepEqual([inner.code, request_id], [code, error.requestID]);
        assert.match(error.message, words);
      }
    });

    it('what the provider refuses keeps its words', async () => {
      const error = await failure(client().messages.create(ask({ max_tokens: 0 })));
      assert.ok(error instanceof Anthropic.BadRequestError);
      assert.match(error.message, /max_tokens: Input should be greater/);
      assert.equal(error.headers?.get('x-relay-error-source'), 'upstream');
    });

    for (const [status, expected] of [
      [404, Anthropic.NotFoundError],
      [413, Anthropic.ContentTooLargeError],
      [429, Anthropic.RateLimitError],
      [500, Anthropic.InternalServerError],
      [529, Anthropic.OverloadedError],
    ] as const) {
      it(`the provider's ${status} is a ${expected.name}, streaming or not`, async () => {
        for (const stream of [false, true]) {
          const body = { ...ask({ sim: { status } }), stream } as Anthropic.MessageCreateParams;
          const error = await failure(client().messages.create(body));
          assert.ok(error instanceof expected, error.name);
          assert.equal(error.headers?.get('x-relay-error-source'), 'upstream');
          assert.match(error.requestID ?? '', OUR_ID);
        }
      });
    }

    it('a stream that breaks after content is an error to the reader, not an end', async () => {
      const stream = client().messages.stream(ask({ sim: { frames: 10, cutAfterFrames: 6 } }));
      const error = await failure(stream.finalMessage());
      assert.equal(error.type, 'api_error');
      assert.match(JSON.stringify(error.error), /stream_interrupted/);
    });

    it('an error event of the provider in the middle of a stream arrives as it is', async () => {
      const stream = client().messages.stream(ask({ sim: { frames: 10, errorAfterFrames: 6 } }));
      assert.equal((await failure(stream.finalMessage())).type, 'overloaded_error');
    });

    it('leaving a stream stops the provider', async () => {
      const before = place().provider.log.at(-1)?.id ?? 0;
      const stream = client().messages.stream(ask({ sim: { frames: 500, frameDelayMs: 20 } }));
      for await (const event of stream) if (event.type === 'content_block_delta') break;
      const entry = await place().provider.waitFor(
        ({ id, outcome }) => id > before && outcome === 'aborted_by_client',
      );
      assert.ok(entry.framesSent < 100, String(entry.framesSent));
    });
  });
}
