import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { type ClientDeployment, callNames, pixelBase64, weatherQuestion } from './client-deployment.ts';

const Weather = z.object({ city: z.string(), days: z.int().min(2) });
const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const question = { role: 'user', content: weatherQuestion } as const;
const [lane] = callNames;

export function describeOpenAiContent(place: () => ClientDeployment): void {
  const client = () => new OpenAI({ apiKey: place().apiToken, baseURL: place().baseUrl, maxRetries: 0 });

  describe('openai', () => {
    for (const model of callNames) {
      it(`chat by the name ${model}: content, usage, and the request's id`, async () => {
        const { data, response, request_id } = await client()
          .chat.completions.create({ model, messages: [question] })
          .withResponse();
        assert.equal(data.choices[0]?.finish_reason, 'stop');
        assert.ok(data.choices[0]?.message.content);
        assert.ok((data.usage?.total_tokens ?? 0) > 0);
        assert.equal(response.headers.get('x-relay-selected-upstream-model'), 'sim-multi');
        assert.match(request_id ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
        assert.equal(request_id, response.headers.get('x-request-id'));
        assert.equal((data as { _request_id?: string })._request_id, request_id);
      });

      it(`a chat stream by the name ${model} says what the whole answer says`, async () => {
        const body = { model, messages: [question] };
        const whole = await client().chat.completions.create(body);
        const stream = client().chat.completions.stream({ ...body, stream_options: { include_usage: true } });
        const streamed = await stream.finalChatCompletion();
        assert.equal(streamed.choices[0]?.message.content, whole.choices[0]?.message.content);
        assert.deepEqual(streamed.usage, whole.usage);
      });
    }

    it('shows no usage in a stream that did not ask for it, though the gateway did', async () => {
      place().newRequests();
      const stream = await client().chat.completions.create({
        model: lane,
        messages: [question],
        stream: true,
      });
      let frames = 0;
      for await (const chunk of stream) {
        assert.ok(!chunk.usage && chunk.choices.length === 1);
        frames += 1;
      }
      assert.ok(frames > 2);
      const [seen] = place().newRequests();
      assert.match(seen?.body?.toString() ?? '', /"include_usage":true/);
    });

    it('sends several choices, a cap and system messages through', async () => {
      const answer = await client().chat.completions.create({
        model: lane,
        messages: [{ role: 'system', content: 'Be brief.' }, question],
        n: 3,
        max_completion_tokens: 4,
      });
      assert.equal(answer.choices.length, 3);
      assert.ok(answer.choices.every(({ finish_reason }) => finish_reason === 'length'));
      assert.equal(answer.usage?.completion_tokens, 12);
    });

    it('tools: a call, streamed or not, and the way back with its result', async () => {
      const body = {
        model: lane,
        messages: [question],
        tools: [{ type: 'function', function: { name: 'get_weather', strict: true, parameters } }],
        tool_choice: 'required',
      } satisfies OpenAI.ChatCompletionCreateParams;
      const whole = await client().chat.completions.create(body);
      const streamed = await client().chat.completions.stream(body).finalChatCompletion();
      for (const answer of [whole, streamed]) {
        assert.equal(answer.choices[0]?.finish_reason, 'tool_calls');
        const call = answer.choices[0]?.message.tool_calls?.[0];
        assert.ok(call?.type === 'function' && call.function.name === 'get_weather');
        assert.deepEqual(JSON.parse(call.function.arguments), { city: 'text' });
      }
      const said = whole.choices[0]?.message;
      const callId = said?.tool_calls?.[0]?.id;
      assert.ok(said !== undefined && callId !== undefined);
      const last = await client().chat.completions.create({
        ...body,
        messages: [question, said, { role: 'tool', tool_call_id: callId, content: 'sunny' }],
        tool_choice: 'auto',
      });
      assert.equal(last.choices[0]?.finish_reason, 'stop');
    });

    it('tools: the runner calls the function and goes on with what it gave', async () => {
      const given: unknown[] = [];
      const runner = client().chat.completions.runTools({
        model: lane,
        messages: [question],
        stream: true,
        tool_choice: { type: 'function', function: { name: 'get_weather' } },
        tools: [
          {
            type: 'function',
            function: {
              name: 'get_weather',
              description: 'Tells the weather.',
              parameters,
              parse: (text: string) => JSON.parse(text) as { city: string },
              function: (args: { city: string }) => {
                given.push(args);
                return 'sunny';
              },
            },
          },
        ],
      });
      await runner.done();
      assert.deepEqual(given, [{ city: 'text' }]);
    });

    it('structured output: parsed against its schema, in chat, chat streams and responses', async () => {
      const response_format = zodResponseFormat(Weather, 'weather');
      const body = { model: lane, messages: [question], response_format };
      const parsed = await client().chat.completions.parse(body);
      assert.deepEqual(parsed.choices[0]?.message.parsed, { city: 'text', days: 2 });
      const streamed = await client().chat.completions.stream(body).finalChatCompletion();
      assert.deepEqual(streamed.choices[0]?.message.parsed, { city: 'text', days: 2 });
      const response = await client().responses.parse({
        model: lane,
        input: weatherQuestion,
        text: { format: zodTextFormat(Weather, 'weather') },
      });
      assert.deepEqual(response.output_parsed, { city: 'text', days: 2 });
    });

    it('vision: image parts arrive as they were sent, in chat and in responses', async () => {
      place().newRequests();
      const url = `data:image/png;base64,${pixelBase64}`;
      const chat = await client().chat.completions.create({
        model: lane,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Look.' },
              { type: 'image_url', image_url: { url, detail: 'low' } },
            ],
          },
        ],
      });
      const response = await client().responses.create({
        model: lane,
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'Look.' },
              { type: 'input_image', image_url: url, detail: 'auto' },
            ],
          },
        ],
      });
      const seen = place().newRequests();
      assert.equal(seen.length, 2);
      for (const entry of seen) {
        assert.ok(entry.body?.includes(url));
        assert.deepEqual(entry.violations, []);
      }
      assert.equal(chat.usage?.prompt_tokens, 2 + 85);
      assert.ok((response.usage?.input_tokens ?? 0) >= 85);
    });

    it('embeddings: the default encoding and plain numbers are the same vectors', async () => {
      place().newRequests();
      const body = { model: lane, input: ['first', 'second', 'Zürich'] };
      const packed = await client().embeddings.create(body);
      const plain = await client().embeddings.create({ ...body, encoding_format: 'float' });
      assert.deepEqual(
        place()
          .newRequests()
          .map((entry) => /"encoding_format":"(\w+)"/.exec(entry.body?.toString() ?? '')?.[1]),
        ['base64', 'float'],
      );
      assert.equal(packed.data.length, 3);
      for (const [index, { embedding }] of plain.data.entries()) {
        assert.equal(embedding.length, 64);
        const other = packed.data[index]?.embedding ?? [];
        assert.ok(embedding.every((value, at) => Math.abs(value - (other[at] ?? Number.NaN)) < 1e-6));
      }
      assert.deepEqual(packed.usage, plain.usage);
    });

    it('models: every one that is listed can be called', async () => {
      const ids: string[] = [];
      for await (const model of client().models.list()) ids.push(model.id);
      assert.ok(ids.includes('sim-multi'));
      for (const model of ids) {
        const answer = await client().chat.completions.create({ model, messages: [question] });
        assert.ok(answer.id);
      }
    });
  });
}
