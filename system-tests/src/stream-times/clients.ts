import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { streamText } from 'ai';
import OpenAI from 'openai';
import { textFor } from './paced-provider.ts';
import type { Wire } from './plays.ts';
import { directions, nameOf } from './site.ts';

interface Place {
  readonly url: string;
  readonly token: string;
  readonly lane: string;
  readonly name: string;
}

export interface SilentClient {
  readonly name: string;
  readonly wire: Wire;
  /** The text of a stream; throws what the library throws. */
  readonly read: (place: Place) => Promise<string>;
}

const openai = ({ url, token }: Place) => new OpenAI({ apiKey: token, baseURL: `${url}/v1`, maxRetries: 0 });

async function readChat(place: Place): Promise<string> {
  const messages = [{ role: 'user' as const, content: textFor(place.name) }];
  const stream = await openai(place).chat.completions.create({ model: place.lane, messages, stream: true });
  let text = '';
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
  return text;
}

async function readResponses(place: Place): Promise<string> {
  const body = { model: place.lane, input: textFor(place.name), stream: true as const };
  let text = '';
  for await (const event of await openai(place).responses.create(body))
    if (event.type === 'response.output_text.delta') text += event.delta;
  return text;
}

async function readMessages({ url, token, lane, name }: Place): Promise<string> {
  const anthropic = new Anthropic({ apiKey: token, baseURL: url, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: textFor(name) }];
  const { content } = await anthropic.messages
    .stream({ model: lane, max_tokens: 64, messages })
    .finalMessage();
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

async function readCompatible({ url, token, lane, name }: Place): Promise<string> {
  const provider = createOpenAICompatible({ name: 'relay', apiKey: token, baseURL: `${url}/v1` });
  const failures: unknown[] = [];
  const result = streamText({
    model: provider(lane),
    prompt: textFor(name),
    maxRetries: 0,
    onError: ({ error }) => failures.push(error),
  });
  let text = '';
  for await (const part of result.textStream) text += part;
  if (failures.length > 0) throw failures[0];
  return text;
}

const libraries: readonly {
  readonly name: string;
  readonly client: Wire;
  readonly read: SilentClient['read'];
}[] = [
  { name: 'openai', client: 'chat', read: readChat },
  { name: 'openai', client: 'responses', read: readResponses },
  { name: 'anthropic', client: 'messages', read: readMessages },
  { name: 'ai', client: 'chat', read: readCompatible },
];

/** Every library in every direction that its protocol has. */
export const callClients: readonly SilentClient[] = libraries.flatMap(({ name, client, read }) =>
  directions
    .filter((direction) => direction.client === client)
    .map((direction) => ({ name: `${name}, ${nameOf(direction)}`, wire: direction.wire, read })),
);
