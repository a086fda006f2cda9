import { isObject } from '../../format/values.ts';
import { headersOf, type Operation, paths } from './request.ts';

export interface CodeSample {
  readonly id: string;
  readonly label: string;
  readonly code: string;
}

/**
 * The request in other languages. The key comes from the environment, because samples must not contain secrets.
 */
export function codeSamples(
  origin: string,
  operation: Operation,
  body: Readonly<Record<string, unknown>>,
): readonly CodeSample[] {
  const json = JSON.stringify(body, null, 2);
  const plain = { id: 'curl', label: 'curl', code: curl(origin, operation, json) };
  if (operation === 'messages')
    return [plain, { id: 'anthropic', label: 'Anthropic', code: anthropic(origin, body) }];
  const samples = [plain, { id: 'openai', label: 'OpenAI', code: openai(origin, operation, body) }];
  if (operation === 'embeddings') return samples;
  return [
    ...samples,
    { id: 'ai-sdk', label: 'AI SDK', code: aiSdk(origin, body) },
    { id: 'langchain', label: 'LangChain', code: langchain(origin, body) },
  ];
}

function curl(origin: string, operation: Operation, json: string): string {
  return [
    `curl ${origin}${paths[operation]} \\`,
    '  -H "Authorization: Bearer $RELAY_API_KEY" \\',
    '  -H "Content-Type: application/json" \\',
    ...Object.entries(headersOf(operation)).map(([name, value]) => `  -H "${name}: ${value}" \\`),
    `  -d '${json.replaceAll("'", String.raw`'\''`)}'`,
  ].join('\n');
}

const CALLS = {
  chat: 'chat.completions',
  responses: 'responses',
  embeddings: 'embeddings',
} as const;

function openai(
  origin: string,
  operation: Exclude<Operation, 'messages'>,
  body: Readonly<Record<string, unknown>>,
): string {
  return [
    "import OpenAI from 'openai';",
    '',
    'const client = new OpenAI({',
    `  baseURL: '${origin}/v1',`,
    '  apiKey: process.env.RELAY_API_KEY,',
    '});',
    ...callOf(CALLS[operation], body),
  ].join('\n');
}

function anthropic(origin: string, body: Readonly<Record<string, unknown>>): string {
  return [
    "import Anthropic from '@anthropic-ai/sdk';",
    '',
    'const client = new Anthropic({',
    `  baseURL: '${origin}',`,
    '  authToken: process.env.RELAY_API_KEY,',
    '  apiKey: null,',
    '});',
    ...callOf('messages', body),
  ].join('\n');
}

function callOf(resource: string, body: Readonly<Record<string, unknown>>): readonly string[] {
  const call = `await client.${resource}.create(${JSON.stringify(body, null, 2)})`;
  return body['stream'] === true
    ? [`const stream = ${call};`, 'for await (const part of stream) console.log(part);']
    : [`const answer = ${call};`, 'console.log(answer);'];
}

function promptOf(body: Readonly<Record<string, unknown>>): string {
  const messages: readonly unknown[] = Array.isArray(body['messages']) ? body['messages'] : [];
  const message = messages.at(-1);
  const last = (isObject(message) ? message['content'] : undefined) ?? body['input'] ?? '';
  return JSON.stringify(typeof last === 'string' ? last : '');
}

function aiSdk(origin: string, body: Readonly<Record<string, unknown>>): string {
  return [
    "import { createOpenAICompatible } from '@ai-sdk/openai-compatible';",
    "import { streamText } from 'ai';",
    '',
    'const relay = createOpenAICompatible({',
    "  name: 'relay',",
    `  baseURL: '${origin}/v1',`,
    '  apiKey: process.env.RELAY_API_KEY,',
    '});',
    `const { textStream } = streamText({ model: relay(${JSON.stringify(body['model'])}), prompt: ${promptOf(body)} });`,
    'for await (const text of textStream) process.stdout.write(text);',
  ].join('\n');
}

function langchain(origin: string, body: Readonly<Record<string, unknown>>): string {
  return [
    "import { ChatOpenAI } from '@langchain/openai';",
    '',
    'const model = new ChatOpenAI({',
    `  model: ${JSON.stringify(body['model'])},`,
    '  apiKey: process.env.RELAY_API_KEY,',
    `  configuration: { baseURL: '${origin}/v1' },`,
    '});',
    `const answer = await model.invoke(${promptOf(body)});`,
    'console.log(answer.content);',
  ].join('\n');
}
