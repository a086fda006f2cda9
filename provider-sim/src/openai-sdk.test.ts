import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import OpenAI, { APIError, AuthenticationError, NotFoundError, RateLimitError } from 'openai';
import { type ProviderSim, startProviderSim, tokensOfText } from './index.ts';

const question = { role: 'user', content: 'What is the weather in Zürich?' } as const;
const weather = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 2 } },
  required: ['city', 'days'],
  additionalProperties: false,
};
const pixel = 'data:image/png;base64,iVBORw0KGgo=';

describe('the official client gets what it expects', () => {
  let sim: ProviderSim;
  let client: OpenAI;
  before(async () => {
    sim = await startProviderSim({ keys: ['test-key'] });
    client = new OpenAI({ apiKey: 'test-key', baseURL: sim.baseUrl, maxRetries: 0 });
  });
  after(() => sim.close());

  it('chat: content, usage, several choices, cap', async () => {
    const answer = await client.chat.completions.create({
      model: 'gpt-4o-mini',
      messages: [question],
      n: 3,
      max_completion_tokens: 5,
    });
    assert.equal(answer.choices.length, 3);
    assert.equal(answer.choices[0]?.finish_reason, 'length');
    assert.equal(answer.usage?.completion_tokens, 15);
    assert.equal(answer.usage?.prompt_tokens, tokensOfText(question.content));
    assert.notEqual(answer.choices[0]?.message.content, answer.choices[1]?.message.content);
    assert.match(answer._request_id ?? '', /^req_sim_/);
  });

  it('chat: a stream says what the whole answer says, and its usage', async () => {
    const whole = await client.chat.completions.create({ model: 'gpt-4o', messages: [question] });
    const stream = client.chat.completions.stream({
      model: 'gpt-4o',
      messages: [question],
      stream_options: { include_usage: true },
    });
    const streamed = await stream.finalChatCompletion();
    assert.equal(streamed.choices[0]?.message.content, whole.choices[0]?.message.content);
    assert.deepEqual(streamed.usage, whole.usage);
  });

  it('chat: without include_usage no frame speaks of usage', async () => {
    const stream = await client.chat.completions.create({
      model: 'gpt-4o',
      messages: [question],
      stream: true,
    });
    for await (const chunk of stream) assert.equal('usage' in chunk, false);
  });

  it('chat: a required tool is called with arguments that fit its schema, streamed or not', async () => {
    const request = {
      model: 'gpt-4o',
      messages: [question],
      tools: [{ type: 'function', function: { name: 'get_weather', parameters: weather } }],
      tool_choice: 'required',
    } satisfies OpenAI.ChatCompletionCreateParams;
    const whole = await client.chat.completions.create(request);
    const streamed = await client.chat.completions.stream(request).finalChatCompletion();
    for (const answer of [whole, streamed]) {
      const call = answer.choices[0]?.message.tool_calls?.[0];
      assert.equal(answer.choices[0]?.finish_reason, 'tool_calls');
      assert.ok(call?.type === 'function' && call.function.name === 'get_weather');
      assert.deepEqual(JSON.parse(call.function.arguments), { city: 'text', days: 2 });
    }
    const call = whole.choices[0]?.message;
    assert.ok(call?.tool_calls?.[0] !== undefined);
    const answer = { role: 'tool', tool_call_id: call.tool_calls[0].id, content: 'sunny' } as const;
    const last = await client.chat.completions.create({
      model: 'gpt-4o',
      messages: [question, call, answer],
    });
    assert.equal(last.choices[0]?.finish_reason, 'stop');
  });

  it('chat: structured output is valid JSON and image parts are taken', async () => {
    const answer = await client.chat.completions.create({
      model: 'gpt-4o',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look.' },
            { type: 'image_url', image_url: { url: pixel } },
          ],
        },
      ],
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'weather', strict: true, schema: weather },
      },
    });
    assert.deepEqual(JSON.parse(answer.choices[0]?.message.content ?? ''), { city: 'text', days: 2 });
    assert.equal(answer.usage?.prompt_tokens, 2 + 85);
  });

  it('responses: whole and streamed agree, with usage and rising sequence numbers', async () => {
    const whole = await client.responses.create({ model: 'gpt-4o', input: question.content });
    const stream = await client.responses.create({ model: 'gpt-4o', input: question.content, stream: true });
    const types: string[] = [];
    let text = '';
    let sequence = -1;
    for await (const event of stream) {
      types.push(event.type);
      assert.equal(event.sequence_number, sequence + 1);
      sequence = event.sequence_number;
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
    assert.deepEqual(types.slice(-4), [
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    assert.equal(whole.usage?.input_tokens, tokensOfText(question.content));
  });

  it('responses: tools, structured output and the cap', async () => {
    const request = {
      model: 'gpt-4o',
      input: 'Weather?',
      tools: [{ type: 'function', name: 'get_weather', parameters: weather, strict: true }],
      tool_choice: 'required',
    } satisfies OpenAI.Responses.ResponseCreateParams;
    const called = await client.responses.create(request);
    const streamed = await client.responses.stream(request).finalResponse();
    for (const answer of [called, streamed]) {
      const item = answer.output[0];
      assert.ok(item?.type === 'function_call');
      assert.deepEqual(JSON.parse(item.arguments), { city: 'text', days: 2 });
    }
    const shaped = await client.responses.create({
      model: 'gpt-4o',
      input: 'Weather?',
      text: { format: { type: 'json_schema', name: 'weather', schema: weather } },
    });
    assert.deepEqual(JSON.parse(shaped.output_text), { city: 'text', days: 2 });
    const capped = { model: 'gpt-4o', input: 'x', max_output_tokens: 16, sim: { outputTokens: 99 } };
    const short = await client.responses.create(capped);
    assert.equal(short.status, 'incomplete');
    assert.equal(short.usage?.output_tokens, 16);
  });

  it('embeddings: the same vector as floats and as base64, one per input', async () => {
    const model = 'text-embedding-3-small';
    const base64 = await client.embeddings.create({ model, input: ['one', 'two'], dimensions: 32 });
    const floats = await client.embeddings.create({
      model,
      input: ['one', 'two'],
      dimensions: 32,
      encoding_format: 'float',
    });
    assert.deepEqual(base64.data, floats.data);
    assert.equal(floats.data[1]?.embedding.length, 32);
    assert.notDeepEqual(floats.data[0]?.embedding, floats.data[1]?.embedding);
    assert.equal(floats.usage.prompt_tokens, 2);
    const whole = await client.embeddings.create({ model, input: [1, 2, 3] });
    assert.equal(whole.data[0]?.embedding.length, 1536);
    assert.equal(whole.usage.total_tokens, 3);
  });

  it('models: the list and one of it', async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    assert.ok(ids.includes('gpt-4o'));
    assert.equal((await client.models.retrieve('gpt-4o')).id, 'gpt-4o');
  });

  it('errors arrive as the classes an application catches', async () => {
    const stranger = new OpenAI({ apiKey: 'other', baseURL: sim.baseUrl, maxRetries: 0 });
    const request = { model: 'gpt-4o', messages: [question] };
    await assert.rejects(stranger.chat.completions.create(request), AuthenticationError);
    await assert.rejects(client.chat.completions.create({ ...request, model: 'nope' }), (error) => {
      return error instanceof NotFoundError && error.code === 'model_not_found' && error.param === 'model';
    });
    sim.script({ fault: { status: 429, retryAfter: 1 } });
    await assert.rejects(client.chat.completions.create(request), RateLimitError);
    sim.script({ match: { path: 'responses' }, fault: { errorAfterCreated: true } });
    const failing = await client.responses.create({ model: 'gpt-4o', input: 'x', stream: true });
    await assert.rejects(async () => {
      for await (const _event of failing);
    }, APIError);
  });

  it('an abort by the client is noticed at once and charges only what was written', async () => {
    const stream = await client.chat.completions.create({
      model: 'gpt-4o',
      messages: [question],
      stream: true,
      ...{ sim: { frames: 1000, frameDelayMs: 2 } },
    });
    assert.equal(sim.openStreams(), 1);
    let abortedAtMs = 0;
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content === undefined || !chunk.choices[0].delta.content?.includes(':5/'))
        continue;
      abortedAtMs = Date.now();
      stream.controller.abort();
      break;
    }
    const entry = await sim.waitFor((each) => each.outcome === 'aborted_by_client');
    assert.ok((entry.abortedAtMs ?? 0) - abortedAtMs < 200);
    assert.ok(entry.completionTokens >= 6 && entry.completionTokens < 60);
    assert.equal(entry.writtenTokens, entry.completionTokens);
    assert.equal(sim.openStreams(), 0);
  });
});
