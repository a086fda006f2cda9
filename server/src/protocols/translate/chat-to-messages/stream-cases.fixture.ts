import type { JsonObject } from '../../../kit/json-value.ts';
import type { StreamCase } from '../messages-to-chat/whole-cases.fixture.ts';
import {
  CHAT_ID,
  CREATED,
  error,
  MODEL,
  message,
  PAUSED,
  untranslatable,
  usageOf,
} from './whole-cases.fixture.ts';

const START = {
  type: 'message_start',
  message: { ...message([]), stop_reason: null, usage: { input_tokens: 25, output_tokens: 1 } },
};
const PING = { type: 'ping' };
const STOP = { type: 'message_stop' };
const DONE = '[DONE]';

function end(reason: string, usage: JsonObject = { output_tokens: 15 }, more: JsonObject = {}): JsonObject {
  return { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null, ...more }, usage };
}

function block(
  index: number,
  content_block: JsonObject,
  ...deltas: readonly JsonObject[]
): readonly JsonObject[] {
  return [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function text(index: number, ...parts: readonly string[]): readonly JsonObject[] {
  return block(
    index,
    { type: 'text', text: '' },
    ...parts.map((part) => ({ type: 'text_delta', text: part })),
  );
}

function input(index: number, id: string, name: string, ...parts: readonly string[]): readonly JsonObject[] {
  const deltas = parts.map((part) => ({ type: 'input_json_delta', partial_json: part }));
  return block(index, { type: 'tool_use', id, name, input: {} }, ...deltas);
}

function chunk(delta: JsonObject, reason: string | null = null, more: JsonObject = {}): JsonObject {
  const choice = { index: 0, delta, logprobs: null, finish_reason: reason };
  return {
    id: CHAT_ID,
    object: 'chat.completion.chunk',
    created: CREATED,
    model: MODEL,
    choices: [choice],
    ...more,
  };
}

function callChunk(index: number, args: string, id?: string, name?: string): JsonObject {
  const head = id === undefined ? {} : { id, type: 'function' };
  const named = name === undefined ? {} : { name };
  return chunk({ tool_calls: [{ index, ...head, function: { ...named, arguments: args } }] });
}

const ROLE = chunk({ role: 'assistant', content: '', refusal: null });
const WITH_USAGE = { stream: true, stream_options: { include_usage: true } };

export const streamCases: readonly StreamCase[] = [
  {
    name: 'text with a ping, as in the documentation',
    given: [START, PING, ...text(0, 'Grüße', ' 👋🏽 "\\'), end('end_turn'), STOP],
    wanted: [
      ROLE,
      ': ping',
      chunk({ content: 'Grüße' }),
      chunk({ content: ' 👋🏽 "\\' }),
      chunk({}, 'stop'),
      DONE,
    ],
  },
  {
    name: 'usage in a chunk of its own when the client asks for it',
    given: [START, ...text(0, 'a'), end('end_turn'), STOP],
    wanted: [
      { ...ROLE, usage: null },
      chunk({ content: 'a' }, null, { usage: null }),
      chunk({}, 'stop', { usage: null }),
      { ...chunk({}), choices: [], usage: usageOf(25, 15) },
      DONE,
    ],
    request: WITH_USAGE,
  },
  {
    name: 'counts at the end replace those at the start',
    given: [
      START,
      end('end_turn', {
        input_tokens: 30,
        cache_read_input_tokens: 70,
        cache_creation_input_tokens: 5,
        output_tokens: 9,
        output_tokens_details: { thinking_tokens: 4 },
      }),
      STOP,
    ],
    wanted: [
      { ...ROLE, usage: null },
      chunk({}, 'stop', { usage: null }),
      { ...chunk({}), choices: [], usage: usageOf(105, 9, { cached_tokens: 70, cache_write_tokens: 5 }, 4) },
      DONE,
    ],
    request: WITH_USAGE,
  },
  {
    name: 'a call after text',
    given: [
      START,
      ...text(0, 'Now.'),
      ...input(1, 'toolu_1', 'get_weather', '', '{"loc', 'ation":"Boston"}'),
      end('tool_use'),
      STOP,
    ],
    wanted: [
      ROLE,
      chunk({ content: 'Now.' }),
      callChunk(0, '', 'toolu_1', 'get_weather'),
      callChunk(0, '{"loc'),
      callChunk(0, 'ation":"Boston"}'),
      chunk({}, 'tool_calls'),
      DONE,
    ],
  },
  {
    name: 'parallel calls count from 0, and one has no input',
    given: [
      START,
      ...text(0, 'a'),
      ...input(1, 'toolu_1', 'f', '{"a":1}'),
      ...input(2, 'toolu_2', 'g', ''),
      end('tool_use'),
      STOP,
    ],
    wanted: [
      ROLE,
      chunk({ content: 'a' }),
      callChunk(0, '', 'toolu_1', 'f'),
      callChunk(0, '{"a":1}'),
      callChunk(1, '', 'toolu_2', 'g'),
      callChunk(1, '{}'),
      chunk({}, 'tool_calls'),
      DONE,
    ],
  },
  {
    name: 'thinking with a signature',
    given: [
      START,
      ...block(
        0,
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'Hm' },
        { type: 'thinking_delta', thinking: '.' },
        { type: 'signature_delta', signature: 'EqQB' },
      ),
      ...block(1, { type: 'redacted_thinking', data: 'Em' }),
      ...text(2, 'Yes.'),
      end('end_turn'),
      STOP,
    ],
    wanted: [
      ROLE,
      chunk({ reasoning_content: 'Hm' }),
      chunk({ reasoning_content: '.' }),
      chunk({ content: 'Yes.' }),
      chunk({}, 'stop'),
      DONE,
    ],
  },
  {
    name: 'two blocks of text',
    given: [START, ...text(0, 'a'), ...text(1, 'b'), end('max_tokens'), STOP],
    wanted: [ROLE, chunk({ content: 'a' }), chunk({ content: 'b' }), chunk({}, 'length'), DONE],
  },
  {
    name: 'several changes of the message',
    given: [
      START,
      end('end_turn', { output_tokens: 3 }),
      { type: 'message_delta', delta: {}, usage: { output_tokens: 4 } },
      STOP,
    ],
    wanted: [
      { ...ROLE, usage: null },
      chunk({}, 'stop', { usage: null }),
      { ...chunk({}), choices: [], usage: usageOf(25, 4) },
      DONE,
    ],
    request: WITH_USAGE,
  },
  {
    name: 'a stop sequence',
    given: [
      START,
      ...text(0, 'a'),
      end('stop_sequence', { output_tokens: 1 }, { stop_sequence: 'END' }),
      STOP,
    ],
    wanted: [ROLE, chunk({ content: 'a' }), chunk({}, 'stop'), DONE],
  },
  {
    name: 'a refusal',
    given: [
      START,
      ...text(0, 'a'),
      end(
        'refusal',
        { output_tokens: 1 },
        { stop_details: { type: 'refusal', category: null, explanation: 'No.' } },
      ),
      STOP,
    ],
    wanted: [ROLE, chunk({ content: 'a' }), chunk({ refusal: 'No.' }), chunk({}, 'content_filter'), DONE],
  },
  {
    name: 'no end of its own',
    given: [START, ...text(0, 'a'), end('end_turn')],
    wanted: [ROLE, chunk({ content: 'a' }), chunk({}, 'stop'), DONE],
  },
  {
    name: 'an error in the middle, as in the documentation',
    given: [
      START,
      ...text(0, 'a'),
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      ...text(1, 'b'),
    ],
    wanted: [ROLE, chunk({ content: 'a' }), error('Overloaded', 'overloaded_error', 'overloaded_error')],
  },
  {
    name: 'an error before anything',
    given: [{ type: 'error', error: { type: 'api_error', message: 'Broken' } }],
    wanted: [error('Broken')],
  },
  { name: 'a pause', given: [START, end('pause_turn'), STOP], wanted: [ROLE, PAUSED] },
  {
    name: 'an unknown event',
    given: [START, { type: 'message_undo' }, ...text(0, 'a'), end('end_turn'), STOP],
    wanted: [ROLE, chunk({ content: 'a' }), chunk({}, 'stop'), DONE],
  },
  {
    name: 'a search of the provider',
    given: [START, ...block(0, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }), STOP],
    wanted: [ROLE, untranslatable('content of the type server_tool_use')],
  },
  {
    name: 'a stream that breaks off has no end',
    given: [START, ...text(0, 'a')],
    wanted: [ROLE, chunk({ content: 'a' })],
  },
];
