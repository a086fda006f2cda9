import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { type ClientDeployment, callNames, messagesLane, weatherQuestion } from './client-deployment.ts';

const [chatLane] = callNames;
const question = { role: 'user', content: weatherQuestion } as const;
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;

/** Each library asks a lane whose provider speaks the other one's protocol. */
export function describeTranslated(place: () => ClientDeployment): void {
  const openai = () => new OpenAI({ apiKey: place().apiToken, baseURL: place().baseUrl, maxRetries: 0 });
  const anthropic = () =>
    new Anthropic({
      apiKey: place().apiToken,
      baseURL: place().baseUrl.replace(/\/v1$/, ''),
      maxRetries: 0,
    });

  describe('openai, asking a provider of Messages', () => {
    it('a completion, and the same as a stream', async () => {
      const body = { model: messagesLane, messages: [question] };
      const { data, response } = await openai().chat.completions.create(body).withResponse();
      const [choice] = data.choices;
      assert.ok(choice?.message.content);
      assert.equal(choice.finish_reason, 'stop');
      assert.ok((data.usage?.total_tokens ?? 0) > 0);
      assert.equal(response.headers.get('x-relay-translated-to'), 'messages');
      const streamed = await openai().chat.completions.stream(body).finalChatCompletion();
      assert.equal(streamed.choices[0]?.message.content, choice.message.content);
    });

    it('a call of a tool, and the way back with its result', async () => {
      const tools = [{ type: 'function' as const, function: { name: 'get_weather', parameters: schema } }];
      const forced = { type: 'function' as const, function: { name: 'get_weather' } };
      const body = { model: messagesLane, messages: [question], tools, tool_choice: forced };
      const whole = await openai().chat.completions.create(body);
      const message = whole.choices[0]?.message;
      const [call] = message?.tool_calls ?? [];
      assert.ok(message && call?.type === 'function' && call.function.name === 'get_weather');
      JSON.parse(call.function.arguments);
      const streamed = await openai().chat.completions.stream(body).finalChatCompletion();
      assert.deepEqual(
        streamed.choices[0]?.message.tool_calls?.map((each) => 'function' in each && each.function.arguments),
        [call.function.arguments],
      );
      const result = { role: 'tool' as const, tool_call_id: call.id, content: 'cold' };
      const last = await openai().chat.completions.create({
        model: messagesLane,
        messages: [question, message, result],
        tools,
      });
      assert.ok(last.choices[0]?.message.content);
    });

    it('a response, and the same as a stream', async () => {
      const body = { model: messagesLane, input: weatherQuestion };
      const whole = await openai().responses.create(body);
      assert.ok(whole.output_text.length > 0);
      assert.equal(whole.status, 'completed');
      const streamed = await openai().responses.stream(body).finalResponse();
      assert.equal(streamed.output_text, whole.output_text);
    });
  });

  describe('anthropic, asking a provider of chat completions', () => {
    const ask = (more: Partial<Anthropic.MessageCreateParamsNonStreaming> = {}) => ({
      model: chatLane,
      max_tokens: 100,
      messages: [question],
      ...more,
    });

    it('a message, and the same as a stream', async () => {
      const { data, response } = await anthropic().messages.create(ask()).withResponse();
      assert.deepEqual([data.type, data.stop_reason], ['message', 'end_turn']);
      assert.ok(data.content[0]?.type === 'text' && data.content[0].text.length > 0);
      assert.ok(data.usage.output_tokens > 0);
      assert.equal(response.headers.get('x-relay-translated-to'), 'chat');
      const streamed = await anthropic().messages.stream(ask()).finalMessage();
      assert.deepEqual(
        streamed.content.map((block) => block.type === 'text' && block.text),
        data.content.map((block) => block.type === 'text' && block.text),
      );
      assert.equal(streamed.usage.output_tokens, data.usage.output_tokens);
    });

    it('a call of a tool, and the way back with its result', async () => {
      const tools: Anthropic.Tool[] = [
        { name: 'get_weather', input_schema: { ...schema, required: ['city'] } },
      ];
      const body = ask({ tools, tool_choice: { type: 'tool', name: 'get_weather' } });
      const whole = await anthropic().messages.create(body);
      const call = whole.content.find((block) => block.type === 'tool_use');
      assert.ok(call !== undefined && call.name === 'get_weather');
      const streamed = await anthropic().messages.stream(body).finalMessage();
      assert.deepEqual(streamed.content.find((block) => block.type === 'tool_use')?.input, call.input);
      const result = { type: 'tool_result' as const, tool_use_id: call.id, content: 'cold' };
      const last = await anthropic().messages.create(
        ask({
          tools,
          messages: [
            question,
            { role: 'assistant', content: whole.content },
            { role: 'user', content: [result] },
          ],
        }),
      );
      assert.equal(last.content[0]?.type, 'text');
    });

    it('what is left out is named', async () => {
      const cached = {
        type: 'text' as const,
        text: 'Be brief',
        cache_control: { type: 'ephemeral' as const },
      };
      const { response } = await anthropic()
        .messages.create(ask({ system: [cached] }))
        .withResponse();
      assert.equal(response.headers.get('x-relay-left-out'), 'system.cache_control');
    });
  });
}
