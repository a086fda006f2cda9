import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { type ProviderSim, startProviderSim, tokensOfText } from '../index.ts';

const model = 'claude-opus-5-5';
const question = { role: 'user', content: 'What is the weather in Zürich?' } as const;
const tool: Anthropic.Tool = {
  name: 'get_weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

describe('Anthropic’s own client gets what it expects', () => {
  let sim: ProviderSim;
  let client: Anthropic;
  before(async () => {
    sim = await startProviderSim({ keys: ['test-key'] });
    client = new Anthropic({ apiKey: 'test-key', baseURL: sim.url, maxRetries: 0 });
  });
  after(() => sim.close());

  it('a message: content, usage, cap, and the id of the request', async () => {
    const message = await client.messages.create({ model, max_tokens: 5, messages: [question] });
    assert.deepEqual(
      [message.type, message.role, message.stop_reason],
      ['message', 'assistant', 'max_tokens'],
    );
    assert.equal(message.content[0]?.type, 'text');
    assert.deepEqual(
      [message.usage.input_tokens, message.usage.output_tokens],
      [tokensOfText(question.content), 5],
    );
    assert.match(message._request_id ?? '', /^req_sim_/);
  });

  it('a stream says what the whole message says', async () => {
    const body = { model, max_tokens: 100, messages: [question] };
    const whole = await client.messages.create(body);
    const streamed = await client.messages.stream(body).finalMessage();
    assert.deepEqual(streamed.content, whole.content);
    assert.equal(streamed.usage.output_tokens, whole.usage.output_tokens);
    assert.equal(streamed.usage.input_tokens, whole.usage.input_tokens);
  });

  it('a forced tool is called with input that fits its schema, and takes its result', async () => {
    const body = {
      model,
      max_tokens: 100,
      messages: [question],
      tools: [tool],
      tool_choice: { type: 'any' as const },
    };
    const whole = await client.messages.create(body);
    const streamed = await client.messages.stream(body).finalMessage();
    const [call] = whole.content;
    assert.ok(call?.type === 'tool_use' && typeof (call.input as { city: unknown }).city === 'string');
    assert.deepEqual(streamed.content, whole.content);
    assert.equal(whole.stop_reason, 'tool_use');
    const result = { type: 'tool_result' as const, tool_use_id: call.id, content: 'cold' };
    const turns = [question, { role: 'assistant' as const, content: whole.content }];
    const next = { model, max_tokens: 9, tools: [tool] };
    const last = await client.messages.create({
      ...next,
      messages: [...turns, { role: 'user', content: [result] }],
    });
    assert.equal(last.content[0]?.type, 'text');
    await assert.rejects(
      client.messages.create({ ...next, messages: [...turns, { role: 'user', content: 'never mind' }] }),
      Anthropic.BadRequestError,
    );
  });

  it('thinking comes first, with a signature', async () => {
    const thinking = { type: 'enabled', budget_tokens: 1024 } as const;
    const body = { model, max_tokens: 2_000, thinking, messages: [question] };
    const whole = await client.messages.create(body);
    assert.deepEqual(
      whole.content.map(({ type }) => type),
      ['thinking', 'text'],
    );
    const streamed = await client.messages.stream(body).finalMessage();
    assert.deepEqual(streamed.content, whole.content);
    const forged = { type: 'thinking', thinking: 'I see.', signature: 'not-signed' } as const;
    const followUp = (content: Anthropic.ContentBlockParam[]) =>
      client.messages.create({ ...body, messages: [question, { role: 'assistant', content }, question] });
    await followUp(whole.content);
    await assert.rejects(followUp([forged]), /Invalid `signature`/);
  });

  it('what is marked for the cache is written, what a fault says is read from it', async () => {
    const system: Anthropic.TextBlockParam[] = [
      { type: 'text', text: 'a'.repeat(400), cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'b'.repeat(800), cache_control: { type: 'ephemeral', ttl: '1h' } },
    ];
    const body = { model, max_tokens: 5, system, messages: [question], sim: { cachedTokens: 3 } };
    const { usage } = await client.messages.create(body);
    assert.deepEqual(
      [usage.cache_creation_input_tokens, usage.cache_read_input_tokens, usage.cache_creation],
      [300, 3, { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 }],
    );
  });

  it('what the newest version removed is refused, and taken in the one before', async () => {
    const body = { model, max_tokens: 5, messages: [question], temperature: 0.5 };
    await assert.rejects(client.messages.create(body), Anthropic.BadRequestError);
    const headers = { 'anthropic-version': '2023-06-01' };
    assert.equal((await client.messages.create(body, { headers })).type, 'message');
  });

  it('tokens are counted, and nothing is charged for it', async () => {
    const before = sim.counts().promptTokens;
    const { input_tokens } = await client.messages.countTokens({ model, messages: [question] });
    assert.equal(input_tokens, tokensOfText(question.content));
    assert.equal(sim.counts().promptTokens, before);
  });

  it('models are listed and read in its own shape', async () => {
    const ids = [];
    for await (const each of client.models.list()) ids.push(each.id);
    assert.ok(ids.includes(model));
    assert.equal((await client.models.retrieve(model)).type, 'model');
  });

  it('errors have their class, whole or within a stream', async () => {
    const ask = (sim: object, stream = false) =>
      client.messages.create({
        model,
        max_tokens: 50,
        messages: [question],
        stream,
        sim,
      } as Anthropic.MessageCreateParams);
    await assert.rejects(ask({ status: 529 }), Anthropic.OverloadedError);
    await assert.rejects(ask({ status: 429 }), Anthropic.RateLimitError);
    await assert.rejects(
      new Anthropic({ apiKey: 'wrong', baseURL: sim.url, maxRetries: 0 }).models.list(),
      Anthropic.AuthenticationError,
    );
    const stream = await ask({ frames: 5, errorAfterFrames: 4 }, true);
    const read = async () => {
      for await (const _event of stream as AsyncIterable<unknown>);
    };
    await assert.rejects(
      read(),
      (error) => error instanceof Anthropic.APIError && error.type === 'overloaded_error',
    );
  });
});
