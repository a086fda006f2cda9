import type { JsonObject } from '../../../kit/json-value.ts';
import { shortName } from '../tool-names.ts';
import {
  apiError,
  BOSTON,
  COUNTS,
  call,
  completeBlock,
  ENVELOPE,
  ended,
  LONG_NAME,
  LONG_TOOLS,
  message,
  type StreamCase,
  UNCOUNTED,
  USAGE,
  untranslatable,
  ZERO,
} from './whole-cases.fixture.ts';

function chunk(delta: JsonObject, reason: string | null = null, more: JsonObject = {}): JsonObject {
  return {
    ...ENVELOPE,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
    ...more,
  };
}

const ROLE = chunk({ role: 'assistant', content: '' });
const USAGE_CHUNK = { ...ENVELOPE, choices: [], usage: USAGE };
const START = {
  type: 'message_start',
  message: {
    ...message([]),
    stop_reason: null,
    usage: { ...ZERO, ...UNCOUNTED, input_tokens: 0, output_tokens: 0 },
  },
};
const STOP = { type: 'message_stop' };

function end(reason: string, more: JsonObject = {}): JsonObject {
  return {
    type: 'message_delta',
    delta: { container: null, ...ended(reason) },
    usage: COUNTS,
    ...more,
  };
}

function block(
  index: number,
  content_block: JsonObject,
  ...deltas: readonly JsonObject[]
): readonly JsonObject[] {
  return [
    { type: 'content_block_start', index, content_block: completeBlock(content_block) },
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

function callChunk(index: number, args: string, id?: string, name?: string): JsonObject {
  const head = id === undefined ? {} : { id, type: 'function' };
  const named = name === undefined ? {} : { name };
  return chunk({ tool_calls: [{ index, ...head, function: { ...named, arguments: args } }] });
}

const SSE_ERROR = {
  error: { message: 'The server had an error.', type: 'server_error', param: null, code: null },
};

export const streamCases: readonly StreamCase[] = [
  {
    name: 'text in several bytes a character',
    given: [
      ROLE,
      chunk({ content: 'Grüße' }),
      chunk({ content: ' 👋🏽 "\\' }),
      chunk({}, 'stop'),
      USAGE_CHUNK,
      '[DONE]',
    ],
    wanted: [START, ...text(0, 'Grüße', ' 👋🏽 "\\'), end('end_turn'), STOP],
  },
  {
    name: 'usage in the last chunk, comments, and no end of its own',
    given: [
      ': processing\n\n',
      ROLE,
      chunk({ content: 'a' }),
      chunk({ content: '' }, 'length', { usage: USAGE }),
    ],
    wanted: [{ type: 'ping' }, START, ...text(0, 'a'), end('max_tokens'), STOP],
  },
  {
    name: 'a call after text',
    given: [
      ROLE,
      chunk({ content: 'Now.' }),
      callChunk(0, '', 'call_a', 'get_weather'),
      callChunk(0, '{"loc'),
      callChunk(0, 'ation":"Boston"}'),
      chunk({}, 'tool_calls'),
      USAGE_CHUNK,
      '[DONE]',
    ],
    wanted: [
      START,
      ...text(0, 'Now.'),
      ...input(1, 'call_a', 'get_weather', '{"loc', 'ation":"Boston"}'),
      end('tool_use'),
      STOP,
    ],
  },
  {
    name: 'a call by the name that was shortened for the provider',
    request: LONG_TOOLS,
    given: [
      ROLE,
      callChunk(0, '', 'call_a', shortName(LONG_NAME)),
      callChunk(0, BOSTON),
      chunk({}, 'tool_calls'),
      USAGE_CHUNK,
      '[DONE]',
    ],
    wanted: [START, ...input(0, 'call_a', LONG_NAME, BOSTON), end('tool_use'), STOP],
  },
  {
    name: 'parallel calls, one after the other',
    given: [
      ROLE,
      callChunk(0, '', 'call_a', 'f'),
      callChunk(0, BOSTON),
      callChunk(1, '', 'call_b', 'g'),
      callChunk(1, '{}'),
      chunk({}, 'tool_calls'),
      USAGE_CHUNK,
      '[DONE]',
    ],
    wanted: [
      START,
      ...input(0, 'call_a', 'f', BOSTON),
      ...input(1, 'call_b', 'g', '{}'),
      end('tool_use'),
      STOP,
    ],
  },
  {
    name: 'parallel calls whose inputs alternate',
    given: [
      ROLE,
      callChunk(0, '{"a"', 'call_a', 'f'),
      callChunk(1, '{"b"', 'call_b', 'g'),
      callChunk(0, ':1}'),
      callChunk(1, ':2}'),
      chunk({}, 'tool_calls'),
      USAGE_CHUNK,
      '[DONE]',
    ],
    wanted: [
      START,
      ...input(0, 'call_a', 'f', '{"a"', ':1}'),
      ...input(1, 'call_b', 'g', '{"b"', ':2}'),
      end('tool_use'),
      STOP,
    ],
  },
  {
    name: 'calls without arguments wait for the end',
    given: [
      ROLE,
      callChunk(0, '', 'call_a', 'f'),
      callChunk(1, '', 'call_b', 'g'),
      chunk({ content: 'b' }, 'tool_calls'),
      USAGE_CHUNK,
      '[DONE]',
    ],
    wanted: [
      START,
      ...input(0, 'call_a', 'f'),
      ...input(1, 'call_b', 'g'),
      ...text(2, 'b'),
      end('tool_use'),
      STOP,
    ],
  },
  {
    name: 'calls that all have the same index',
    given: [
      ROLE,
      callChunk(0, BOSTON, 'call_a', 'f'),
      callChunk(0, '{}', 'call_b', 'g'),
      chunk({}, 'stop'),
      USAGE_CHUNK,
      '[DONE]',
    ],
    wanted: [
      START,
      ...input(0, 'call_a', 'f', BOSTON),
      ...input(1, 'call_b', 'g', '{}'),
      end('tool_use'),
      STOP,
    ],
  },
  {
    name: 'calls without an index, in one chunk',
    given: [
      chunk({ role: 'assistant', tool_calls: [call('call_a', BOSTON), call('call_b', '{}', 'now')] }, 'stop'),
      USAGE_CHUNK,
      '[DONE]',
    ],
    wanted: [
      START,
      ...input(0, 'call_a', 'get_weather', BOSTON),
      ...input(1, 'call_b', 'now', '{}'),
      end('tool_use'),
      STOP,
    ],
  },
  {
    name: 'reasoning before text',
    given: [
      ROLE,
      chunk({ reasoning: 'Hm' }),
      chunk({ reasoning: '.', content: null }),
      chunk({ content: 'Yes.' }),
      chunk({}, 'stop'),
      USAGE_CHUNK,
      '[DONE]',
    ],
    wanted: [
      START,
      ...block(
        0,
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'Hm' },
        { type: 'thinking_delta', thinking: '.' },
        { type: 'signature_delta', signature: 'relay-unsigned' },
      ),
      ...text(1, 'Yes.'),
      end('end_turn'),
      STOP,
    ],
  },
  {
    name: 'reasoning that the client switched off',
    given: [
      ROLE,
      chunk({ reasoning: 'Hm' }),
      chunk({ content: 'Yes.' }),
      chunk({}, 'stop'),
      USAGE_CHUNK,
      '[DONE]',
    ],
    wanted: [START, ...text(0, 'Yes.'), end('end_turn'), STOP],
    request: { thinking: { type: 'disabled' } },
  },
  {
    name: 'a refusal',
    given: [
      ROLE,
      chunk({ refusal: 'I ' }),
      chunk({ refusal: 'cannot.' }),
      chunk({}, 'stop'),
      USAGE_CHUNK,
      '[DONE]',
    ],
    wanted: [START, ...text(0, 'I ', 'cannot.'), end('refusal'), STOP],
  },
  {
    name: 'tokens from a cache',
    given: [
      ROLE,
      chunk({ content: 'a' }),
      chunk({}, 'stop'),
      { ...USAGE_CHUNK, usage: { ...USAGE, prompt_tokens_details: { cached_tokens: 9 } } },
      '[DONE]',
    ],
    wanted: [
      START,
      ...text(0, 'a'),
      end('end_turn', {
        usage: {
          ...ZERO,
          input_tokens: 10,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 9,
          output_tokens: 10,
        },
      }),
      STOP,
    ],
  },
  {
    name: 'an error in the middle',
    given: [ROLE, chunk({ content: 'a' }), SSE_ERROR, chunk({ content: 'b' })],
    wanted: [START, ...text(0, 'a').slice(0, 2), apiError('The server had an error.')],
  },
  {
    name: 'an error as text',
    given: [ROLE, { error: 'model runner has stopped' }],
    wanted: [START, apiError('model runner has stopped')],
  },
  {
    name: 'audio in the middle',
    given: [ROLE, chunk({ audio: { data: 'x' } }), chunk({ content: 'b' }), '[DONE]'],
    wanted: [START, untranslatable('the message member audio')],
  },
  {
    name: 'a stream that breaks off has no end',
    given: [ROLE, chunk({ content: 'a' })],
    wanted: [START, ...text(0, 'a').slice(0, 2)],
  },
];
