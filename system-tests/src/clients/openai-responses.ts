import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import OpenAI from 'openai';
import { type ClientDeployment, callNames, weatherQuestion } from './client-deployment.ts';

const [lane] = callNames;
const tool = {
  type: 'function',
  name: 'get_weather',
  strict: true,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
} as const;

export function describeOpenAiResponses(place: () => ClientDeployment): void {
  const client = () => new OpenAI({ apiKey: place().apiToken, baseURL: place().baseUrl, maxRetries: 0 });

  describe('openai responses', () => {
    for (const model of callNames) {
      it(`by the name ${model}: text, usage, and the request's id`, async () => {
        const { data, request_id } = await client()
          .responses.create({ model, input: weatherQuestion })
          .withResponse();
        assert.equal(data.status, 'completed');
        assert.ok(data.output_text);
        assert.ok((data.usage?.output_tokens ?? 0) > 0);
        assert.match(request_id ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
        assert.equal((data as { _request_id?: string })._request_id, request_id);
      });
    }

    it('a stream has every event, in order, and says what the whole answer says', async () => {
      const body = { model: lane, input: weatherQuestion };
      const whole = await client().responses.create(body);
      const stream = await client().responses.create({ ...body, stream: true });
      const types: string[] = [];
      let text = '';
      for await (const event of stream) {
        assert.equal(event.sequence_number, types.length);
        types.push(event.type);
        if (event.type === 'response.output_text.delta') text += event.delta;
        if (event.type === 'response.completed') assert.deepEqual(event.response.usage, whole.usage);
      }
      assert.equal(text, whole.output_text);
      assert.deepEqual(types.slice(0, 4), [
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.content_part.added',
      ]);
      assert.equal(types.at(-1), 'response.completed');
      const final = await client().responses.stream(body).finalResponse();
      assert.equal(final.output_text, whole.output_text);
    });

    it('tools: a call, streamed or not, and the way back with its result', async () => {
      const body = {
        model: lane,
        input: weatherQuestion,
        tools: [tool],
        tool_choice: 'required',
      } satisfies OpenAI.Responses.ResponseCreateParams;
      const whole = await client().responses.create(body);
      const streamed = await client().responses.stream(body).finalResponse();
      const [call] = whole.output;
      const [streamedCall] = streamed.output;
      assert.ok(call?.type === 'function_call' && streamedCall?.type === 'function_call');
      assert.deepEqual(JSON.parse(call.arguments), { city: 'text' });
      assert.equal(streamedCall.arguments, call.arguments);
      const last = await client().responses.create({
        model: lane,
        input: [
          { role: 'user', content: weatherQuestion },
          call,
          { type: 'function_call_output', call_id: call.call_id, output: 'sunny' },
        ],
        tools: [tool],
      });
      assert.ok(last.output_text);
    });

    it('a stream that breaks after content is an error to the reader, not an end', async () => {
      const body = {
        model: lane,
        input: weatherQuestion,
        stream: true as const,
        sim: { cutAfterFrames: 8 },
      };
      const stream = await client().responses.create(body);
      let deltas = 0;
      await assert.rejects(
        async () => {
          for await (const event of stream) if (event.type === 'response.output_text.delta') deltas += 1;
        },
        (error: unknown) => error instanceof OpenAI.APIError && error.code === 'stream_interrupted',
      );
      assert.ok(deltas > 0);
    });

    it('a response that fails before content is the provider’s own failure', async () => {
      const body = { model: lane, input: weatherQuestion, sim: { errorAfterCreated: true } };
      const stream = await client().responses.create({ ...body, stream: true as const });
      await assert.rejects(
        async () => {
          for await (const _event of stream);
        },
        (error: unknown) => error instanceof OpenAI.APIError,
      );
    });
  });
}
