import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AIMessageChunk, HumanMessage, ToolMessage, type UsageMetadata } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, type ChatOpenAIFields, OpenAIEmbeddings } from '@langchain/openai';
import type { Fault } from '@relay/provider-sim';
import { z } from 'zod';
import { type ClientDeployment, callNames, pixelBase64, weatherQuestion } from './client-deployment.ts';

const schema = z.object({ city: z.string(), days: z.int().min(2) });
const [lane] = callNames;

const getWeather = tool(({ city }) => `sunny in ${city}`, {
  name: 'get_weather',
  description: 'Tells the weather.',
  schema: z.object({ city: z.string() }),
});

async function joined(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  let whole: AIMessageChunk | null = null;
  for await (const chunk of stream) whole = whole === null ? chunk : whole.concat(chunk);
  assert.ok(whole !== null);
  return whole;
}

function totalTokens(message: { usage_metadata?: unknown }): number {
  return (message.usage_metadata as UsageMetadata | undefined)?.total_tokens ?? Number.NaN;
}

export function describeLangChain(place: () => ClientDeployment): void {
  const chat = (fields: ChatOpenAIFields = {}) =>
    new ChatOpenAI({
      model: lane,
      apiKey: place().apiToken,
      configuration: { baseURL: place().baseUrl },
      maxRetries: 0,
      ...fields,
    });
  const faulty = (sim: Fault, fields: ChatOpenAIFields = {}) => chat({ modelKwargs: { sim }, ...fields });

  describe('langchain', () => {
    for (const model of callNames) {
      it(`chat by the name ${model}: content and usage; a stream says the same`, async () => {
        const whole = await chat({ model }).invoke(weatherQuestion);
        assert.ok(whole.text);
        assert.ok(totalTokens(whole) > 0);
        const streamed = await joined(await chat({ model }).stream(weatherQuestion));
        assert.equal(streamed.text, whole.text);
        assert.equal(totalTokens(streamed), totalTokens(whole));
      });

      it(`responses by the name ${model}: content and usage; a stream says the same`, async () => {
        const whole = await chat({ model, useResponsesApi: true }).invoke(weatherQuestion);
        assert.ok(whole.text);
        const streamed = await joined(await chat({ model, useResponsesApi: true }).stream(weatherQuestion));
        assert.equal(streamed.text, whole.text);
        assert.equal(totalTokens(streamed), totalTokens(whole));
      });
    }

    for (const useResponsesApi of [false, true]) {
      it(`tools${useResponsesApi ? ' of responses' : ''}: a call, streamed or not, and the way back`, async () => {
        const bound = chat({ useResponsesApi }).bindTools([getWeather], { tool_choice: 'get_weather' });
        const whole = await bound.invoke(weatherQuestion);
        const streamed = await joined(await bound.stream(weatherQuestion));
        for (const message of [whole, streamed]) {
          assert.equal(message.tool_calls?.[0]?.name, 'get_weather');
          assert.deepEqual(message.tool_calls?.[0]?.args, { city: 'text' });
        }
        const [call] = whole.tool_calls ?? [];
        assert.ok(call !== undefined);
        const result = (await getWeather.invoke(call)) as ToolMessage;
        assert.ok(result instanceof ToolMessage);
        const last = await chat({ useResponsesApi }).invoke([
          new HumanMessage(weatherQuestion),
          whole,
          result,
        ]);
        assert.ok(last.text);
      });
    }

    for (const method of ['jsonSchema', 'functionCalling'] as const) {
      it(`structured output by ${method}`, async () => {
        const structured = chat().withStructuredOutput(schema, { name: 'weather', method });
        assert.deepEqual(await structured.invoke(weatherQuestion), { city: 'text', days: 2 });
      });
    }

    it('vision: image parts reach the provider', async () => {
      place().newRequests();
      const url = `data:image/png;base64,${pixelBase64}`;
      const message = new HumanMessage({
        content: [
          { type: 'text', text: 'Look.' },
          { type: 'image_url', image_url: { url } },
        ],
      });
      assert.ok((await chat().invoke([message])).text);
      const [entry] = place().newRequests();
      assert.ok(entry?.body?.includes(url));
    });

    it('embeddings: one and many, in their order', async () => {
      const embeddings = new OpenAIEmbeddings({
        model: lane,
        apiKey: place().apiToken,
        configuration: { baseURL: place().baseUrl },
        maxRetries: 0,
      });
      const many = await embeddings.embedDocuments(['first', 'second']);
      assert.equal(many.length, 2);
      assert.equal(many[0]?.length, 64);
      assert.deepEqual(await embeddings.embedQuery('second'), many[1]);
    });

    it('an abort in the middle of a stream stops the provider', async () => {
      const before = place().provider.log.at(-1)?.id ?? 0;
      const controller = new AbortController();
      const stream = await faulty({ frames: 500, frameDelayMs: 20 }).stream(weatherQuestion, {
        signal: controller.signal,
      });
      let chunks = 0;
      await assert.rejects(async () => {
        for await (const _chunk of stream) {
          chunks += 1;
          if (chunks === 3) controller.abort();
        }
      }, /abort/i);
      const entry = await place().provider.waitFor(
        ({ id, outcome }) => id > before && outcome === 'aborted_by_client',
      );
      assert.ok(entry.framesSent < 100);
    });

    it('an abort before the answer stops the provider', async () => {
      const before = place().provider.log.at(-1)?.id ?? 0;
      const controller = new AbortController();
      const answer = faulty({ stallBeforeHeaders: true }).invoke(weatherQuestion, {
        signal: controller.signal,
      });
      const refused = assert.rejects(answer, /abort/i);
      await place().provider.waitFor(({ id, fault }) => id > before && fault?.stallBeforeHeaders === true);
      controller.abort();
      await refused;
      await place().provider.waitFor(({ id, outcome }) => id > before && outcome === 'aborted_by_client');
    });

    const failures: [string, () => ChatOpenAI, Record<string, unknown>][] = [
      [
        'a wrong key',
        () => chat({ apiKey: 'wrong' }),
        { status: 401, code: 'invalid_api_key', lc_error_code: 'MODEL_AUTHENTICATION' },
      ],
      ['an unknown model', () => chat({ model: 'no-such-model' }), { status: 400, code: 'model_not_found' }],
      [
        'the provider’s 404',
        () => faulty({ status: 404 }),
        { status: 404, lc_error_code: 'MODEL_NOT_FOUND' },
      ],
      ['the provider’s 422', () => faulty({ status: 422 }), { status: 422, code: 'unprocessable' }],
      [
        'the provider’s 429',
        () => faulty({ status: 429 }),
        { status: 429, lc_error_code: 'MODEL_RATE_LIMIT' },
      ],
      ['the provider’s 500', () => faulty({ status: 500 }), { status: 500, code: 'server_error' }],
    ];
    for (const [what, failing, expected] of failures) {
      it(`${what} is told by its status and code, streaming or not`, async () => {
        await assert.rejects(failing().invoke(weatherQuestion), expected);
        await assert.rejects(async () => joined(await failing().stream(weatherQuestion)), expected);
      });
    }

    it('a stream that breaks after content is an error to the reader, not an end', async () => {
      const stream = await faulty({ frames: 10, cutAfterFrames: 5 }).stream(weatherQuestion);
      await assert.rejects(joined(stream), { code: 'stream_interrupted' });
    });

    it('retries come when the provider’s retry-after says, and succeed', async () => {
      const own = await place().laneOfItsOwn(100);
      place().newRequests();
      place().provider.script({ match: { model: 'sim-chat' }, fault: { status: 429, retryAfter: '1' } });
      const startMs = performance.now();
      const answer = await chat({ model: own, maxRetries: 2 }).invoke(weatherQuestion);
      assert.ok(answer.text);
      const tookMs = performance.now() - startMs;
      assert.ok(tookMs >= 990 && tookMs < 5_000, String(tookMs));
      assert.equal(place().newRequests().length, 2);
    });

    it('retries do not happen when the refusal says that waiting is pointless', async () => {
      const own = await place().laneOfItsOwn(100);
      const throttled = faulty({ status: 429, retryAfter: '120' }, { model: own });
      await assert.rejects(throttled.invoke(weatherQuestion), { status: 429 });
      place().newRequests();
      const startMs = performance.now();
      await assert.rejects(chat({ model: own, maxRetries: 3 }).invoke(weatherQuestion), { status: 429 });
      assert.ok(performance.now() - startMs < 1_000);
      assert.equal(place().newRequests().length, 0);
    });
  });
}
