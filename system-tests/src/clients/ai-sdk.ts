import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { errors as errorTable } from '@relay/contract';
import type { Fault } from '@relay/provider-sim';
import {
  APICallError,
  embed,
  embedMany,
  generateObject,
  generateText,
  isStepCount,
  type JSONValue,
  Output,
  streamObject,
  streamText,
  tool,
} from 'ai';
import { z } from 'zod';
import { type ClientDeployment, callNames, pixelBase64, weatherQuestion } from './client-deployment.ts';

const schema = z.object({ city: z.string(), days: z.int().min(2) });
const [lane] = callNames;

export function describeAiSdk(place: () => ClientDeployment): void {
  const provider = (apiKey = place().apiToken) =>
    createOpenAICompatible({
      name: 'relay',
      baseURL: place().baseUrl,
      apiKey,
      includeUsage: true,
      supportsStructuredOutputs: true,
    });
  const model = (name: string = lane) => provider().chatModel(name);
  const withFault = (sim: Fault) => ({ providerOptions: { relay: { sim: sim as JSONValue } } });
  const ask = { prompt: weatherQuestion, maxRetries: 0 };

  describe('ai sdk', () => {
    for (const name of callNames) {
      it(`text by the name ${name}: content, usage, the request's id; a stream says the same`, async () => {
        const whole = await generateText({ ...ask, model: model(name) });
        assert.ok(whole.text);
        assert.equal(whole.finishReason, 'stop');
        assert.match(whole.response.headers?.['x-request-id'] ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
        assert.equal(whole.response.headers?.['x-relay-selected-upstream-model'], 'sim-multi');
        const stream = streamText({ ...ask, model: model(name) });
        let text = '';
        for await (const piece of stream.textStream) text += piece;
        assert.equal(text, whole.text);
        const usage = await stream.usage;
        assert.ok((usage.totalTokens ?? 0) > 0);
        assert.equal(usage.totalTokens, whole.usage.totalTokens);
      });
    }

    const weather = (given: unknown[]) =>
      tool({
        description: 'Tells the weather.',
        inputSchema: z.object({ city: z.string() }),
        execute: (input) => {
          given.push(input);
          return Promise.resolve('sunny');
        },
      });
    const firstCallThenText = ({ stepNumber }: { stepNumber: number }) => ({
      toolChoice: stepNumber === 0 ? ('required' as const) : ('none' as const),
    });

    it('tools: called and answered in two steps', async () => {
      const given: unknown[] = [];
      const result = await generateText({
        ...ask,
        model: model(),
        tools: { get_weather: weather(given) },
        prepareStep: firstCallThenText,
        stopWhen: isStepCount(2),
      });
      assert.deepEqual(given, [{ city: 'text' }]);
      assert.equal(result.steps.length, 2);
      assert.ok(result.text);
    });

    it('tools: called and answered in two steps, streaming', async () => {
      const given: unknown[] = [];
      const result = streamText({
        ...ask,
        model: model(),
        tools: { get_weather: weather(given) },
        prepareStep: firstCallThenText,
        stopWhen: isStepCount(2),
      });
      let text = '';
      for await (const piece of result.textStream) text += piece;
      assert.deepEqual(given, [{ city: 'text' }]);
      assert.equal((await result.steps).length, 2);
      assert.ok(text);
    });

    it('structured output: whole, streamed, and as the output of a text call', async () => {
      const expected = { city: 'text', days: 2 };
      const { object } = await generateObject({ ...ask, model: model(), schema });
      assert.deepEqual(object, expected);
      const stream = streamObject({ ...ask, model: model(), schema });
      let last: unknown = null;
      for await (const partial of stream.partialObjectStream) last = partial;
      assert.deepEqual(last, expected);
      assert.deepEqual(await stream.object, expected);
      const { output } = await generateText({ ...ask, model: model(), output: Output.object({ schema }) });
      assert.deepEqual(output, expected);
    });

    it('vision: image parts reach the provider', async () => {
      place().newRequests();
      const { text } = await generateText({
        model: model(),
        maxRetries: 0,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Look.' },
              { type: 'file', data: pixelBase64, mediaType: 'image/png' },
            ],
          },
        ],
      });
      assert.ok(text);
      const [entry] = place().newRequests();
      assert.ok(entry?.body?.includes(`data:image/png;base64,${pixelBase64}`));
    });

    it('embeddings: one and many, in their order', async () => {
      const embeddings = provider().embeddingModel(lane);
      const values = ['first', 'second', 'Zürich'];
      const many = await embedMany({ model: embeddings, values, maxRetries: 0 });
      assert.equal(many.embeddings.length, 3);
      for (const [index, value] of values.entries()) {
        const { embedding } = await embed({ model: embeddings, value, maxRetries: 0 });
        assert.deepEqual(embedding, many.embeddings[index]);
      }
      assert.ok(many.usage.tokens > 0);
    });

    it('an abort in the middle of a stream stops the provider', async () => {
      const before = place().provider.log.at(-1)?.id ?? 0;
      const controller = new AbortController();
      const stream = streamText({
        ...ask,
        ...withFault({ frames: 500, frameDelayMs: 20 }),
        model: model(),
        abortSignal: controller.signal,
      });
      let pieces = 0;
      for await (const _piece of stream.textStream) {
        pieces += 1;
        if (pieces === 3) controller.abort();
      }
      const entry = await place().provider.waitFor(
        ({ id, outcome }) => id > before && outcome === 'aborted_by_client',
      );
      assert.ok(entry.framesSent < 100);
    });

    it('an abort before the answer stops the provider', async () => {
      const before = place().provider.log.at(-1)?.id ?? 0;
      const controller = new AbortController();
      const answer = generateText({
        ...ask,
        ...withFault({ stallBeforeHeaders: true }),
        model: model(),
        abortSignal: controller.signal,
      });
      const refused = assert.rejects(answer, { name: 'AbortError' });
      await place().provider.waitFor(({ id, fault }) => id > before && fault?.stallBeforeHeaders === true);
      controller.abort();
      await refused;
      await place().provider.waitFor(({ id, outcome }) => id > before && outcome === 'aborted_by_client');
    });

    async function failure(promise: Promise<unknown>): Promise<APICallError> {
      const error: unknown = await promise.then(
        () => assert.fail('it did not fail'),
        (reason: unknown) => reason,
      );
      assert.ok(APICallError.isInstance(error), String(error));
      return error;
    }

    it('errors carry status, code and id, ours as well as the provider’s', async () => {
      const wrongKey = await failure(generateText({ ...ask, model: provider('wrong').chatModel(lane) }));
      assert.equal(wrongKey.statusCode, 401);
      assert.match(wrongKey.responseBody ?? '', /"invalid_api_key"/);
      assert.match(wrongKey.responseHeaders?.['x-request-id'] ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
      assert.equal(wrongKey.isRetryable, false);
      const unknown = await failure(generateText({ ...ask, model: model('no-such-model') }));
      assert.equal(unknown.statusCode, 400);
      assert.match(unknown.message, /no-such-model/);
      for (const [status, retryable] of [
        [404, false],
        [422, false],
        [429, true],
        [500, true],
      ] as const) {
        const error = await failure(generateText({ ...ask, ...withFault({ status }), model: model() }));
        assert.equal(error.statusCode, status);
        assert.equal(error.isRetryable, retryable);
        assert.equal(error.responseHeaders?.['x-relay-error-source'], 'upstream');
      }
    });

    it('a stream that breaks after content is an error to the reader, not an end', async () => {
      const errors: unknown[] = [];
      const stream = streamText({
        ...ask,
        ...withFault({ frames: 10, cutAfterFrames: 5 }),
        model: model(),
        onError: ({ error }) => void errors.push(error),
      });
      let finish: string | null = null;
      for await (const part of stream.fullStream) if (part.type === 'finish') finish = part.finishReason;
      assert.equal(errors.length, 1);
      assert.notEqual(finish, 'stop');
      assert.match(String(errors[0]), new RegExp(errorTable.stream_interrupted.message.slice(0, 20)));
    });

    it('retries come when retry-after-ms says, and succeed', async () => {
      for (const status of [429, 503]) {
        const own = await place().laneOfItsOwn(100);
        place().newRequests();
        place().provider.script({
          match: { model: 'sim-chat' },
          fault: { status, headers: { 'retry-after-ms': '150' } },
        });
        const startMs = performance.now();
        const { text } = await generateText({ ...ask, model: model(own), maxRetries: 1 });
        assert.ok(text);
        // Its own backoff would be two seconds.
        const tookMs = performance.now() - startMs;
        assert.ok(tookMs >= 149 && tookMs < 1_500, String(tookMs));
        assert.equal(place().newRequests().length, 2);
      }
    });
  });
}
