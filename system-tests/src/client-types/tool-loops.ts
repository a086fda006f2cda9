import assert from 'node:assert/strict';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { generateText, isStepCount, type LanguageModel, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { z } from 'zod';
import type { Wire } from './directions.ts';

/** A client's loop: calls its tool until the model says words, which it returns. */
export interface ToolLoop {
  readonly name: string;
  readonly client: Wire;
  run(place: LoopPlace): Promise<string>;
}

export interface LoopPlace {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly apiToken: string;
  readonly model: string;
  readonly prompt: string;
  readonly stream: boolean;
}

const ROUNDS_MAX = 30;
const description = 'Looks.';
const parameters = { type: 'object' as const, properties: { at: { type: 'string' } }, required: ['at'] };

export const toolLoops: readonly ToolLoop[] = [
  { name: 'anthropic', client: 'messages', run: withAnthropic },
  { name: 'openai responses', client: 'responses', run: (place) => withResponses(place, []) },
  {
    name: 'openai responses, encrypted',
    client: 'responses',
    run: (place) => withResponses(place, ['reasoning.encrypted_content']),
  },
  {
    name: 'ai sdk anthropic',
    client: 'messages',
    run: (place) => withAiSdk(place, createAnthropic(settingsOf(place))(place.model)),
  },
  {
    name: 'ai sdk responses',
    client: 'responses',
    run: (place) => withAiSdk(place, createOpenAI(settingsOf(place)).responses(place.model)),
  },
  {
    name: 'ai sdk compatible',
    client: 'chat',
    run: (place) =>
      withAiSdk(place, createOpenAICompatible({ ...settingsOf(place), name: 'x' }).chatModel(place.model)),
  },
];

async function withAnthropic({ baseUrl, apiToken, model, prompt, stream }: LoopPlace): Promise<string> {
  const client = new Anthropic({ apiKey: apiToken, baseURL: baseUrl.replace(/\/v1$/, ''), maxRetries: 0 });
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: prompt }];
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const tools = [{ name: 'look', description, input_schema: parameters }];
    const body = { model, max_tokens: 1_000, messages, tools };
    const said = stream
      ? await client.messages.stream(body).finalMessage()
      : await client.messages.create(body);
    messages.push({ role: 'assistant', content: said.content });
    const calls = said.content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0)
      return said.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    messages.push({
      role: 'user',
      content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'seen' })),
    });
  }
  throw new Error('The loop does not end.');
}

async function withResponses(
  { baseUrl, apiToken, model, prompt, stream }: LoopPlace,
  include: 'reasoning.encrypted_content'[],
): Promise<string> {
  const client = new OpenAI({ apiKey: apiToken, baseURL: baseUrl, maxRetries: 0 });
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: prompt }];
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const tools = [{ type: 'function' as const, name: 'look', description, parameters, strict: false }];
    const body = { model, input, tools, store: false, include };
    const said = stream
      ? await client.responses.stream(body).finalResponse()
      : await client.responses.create(body);
    const output: readonly OpenAI.Responses.ResponseOutputItem[] = said.output;
    const calls = output.filter((item) => item.type === 'function_call');
    if (calls.length === 0) return said.output_text;
    input.push(...output.map(returnable));
    for (const { call_id } of calls) input.push({ type: 'function_call_output', call_id, output: 'seen' });
  }
  throw new Error('The loop does not end.');
}

/** The stream's helper adds a member that the API does not have. */
function returnable(item: OpenAI.Responses.ResponseOutputItem): OpenAI.Responses.ResponseInputItem {
  const members = Object.entries(item).filter(([name]) => name !== 'parsed_arguments');
  return Object.fromEntries(members) as unknown as OpenAI.Responses.ResponseInputItem;
}

async function withAiSdk({ prompt, stream }: LoopPlace, model: LanguageModel): Promise<string> {
  const look = tool({ description, inputSchema: z.object({ at: z.string() }), execute: () => 'seen' });
  const ask = {
    model,
    prompt,
    tools: { look },
    stopWhen: isStepCount(ROUNDS_MAX),
    maxRetries: 0,
    providerOptions: { openai: { store: false } },
  };
  if (!stream) return (await generateText(ask)).text;
  const errors: unknown[] = [];
  const result = streamText({ ...ask, onError: ({ error }) => void errors.push(error) });
  const text = await result.text;
  assert.deepEqual(errors, []);
  return text;
}

function settingsOf({ baseUrl, apiToken }: LoopPlace) {
  return { baseURL: baseUrl, apiKey: apiToken };
}
