import type { JsonObject } from '../../../../../kit/json-value.ts';
import {
  type AnswerCase,
  customCall,
  functionCall,
  message,
  reasoning,
  saysCall,
  saysCustom,
  saysText,
  saysThinking,
  text,
} from './answer-case.fixture.ts';

const tools = [
  { type: 'function', name: 'read' },
  { type: 'custom', name: 'edit' },
  { type: 'namespace', name: 'mcp__docs__', tools: [{ type: 'function', name: 'find' }] },
];
const include = ['reasoning.encrypted_content'];
const USAGE = '9 / 0 / 4 / 0';

const start: JsonObject = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 1 },
  },
};

function open(index: number, block: JsonObject): JsonObject {
  return { type: 'content_block_start', index, content_block: block };
}

function delta(index: number, of: JsonObject): JsonObject {
  return { type: 'content_block_delta', index, delta: of };
}

function close(index: number): JsonObject {
  return { type: 'content_block_stop', index };
}

function textBlock(index: number, ...pieces: readonly string[]): readonly JsonObject[] {
  const deltas = pieces.map((piece) => delta(index, { type: 'text_delta', text: piece }));
  return [open(index, { type: 'text', text: '' }), ...deltas, close(index)];
}

function thinkingBlock(
  index: number,
  signature: string,
  ...pieces: readonly string[]
): readonly JsonObject[] {
  return [
    open(index, { type: 'thinking', thinking: '', signature: '' }),
    ...pieces.map((piece) => delta(index, { type: 'thinking_delta', thinking: piece })),
    delta(index, { type: 'signature_delta', signature }),
    close(index),
  ];
}

function toolBlock(
  index: number,
  id: string,
  name: string,
  ...pieces: readonly string[]
): readonly JsonObject[] {
  return [
    open(index, { type: 'tool_use', id, name, input: {} }),
    ...pieces.map((piece) => delta(index, { type: 'input_json_delta', partial_json: piece })),
    close(index),
  ];
}

function end(reason: string, more: JsonObject = {}): readonly JsonObject[] {
  return [
    {
      type: 'message_delta',
      delta: { stop_reason: reason, stop_sequence: null, ...more },
      usage: { output_tokens: 4 },
    },
    { type: 'message_stop' },
  ];
}

function whole(content: readonly JsonObject[], reason = 'end_turn', more: JsonObject = {}): JsonObject {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content,
    stop_reason: reason,
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 4 },
    ...more,
  };
}

const SAYS_HELLO = saysText(0, 'Hel', 'lo');

/** Answers of Messages. */
export const messagesAnswers: readonly AnswerCase[] = [
  {
    name: 'text, with pings',
    frames: [start, { type: 'ping' }, ...textBlock(0, 'Hel', 'lo'), { type: 'ping' }, ...end('end_turn')],
    whole: whole([{ type: 'text', text: 'Hello' }]),
    says: ['keepalive', ...SAYS_HELLO.slice(0, -3), 'keepalive', ...SAYS_HELLO.slice(-3)],
    end: 'completed',
    output: [message(0, text('Hello'))],
    usage: USAGE,
  },
  {
    name: 'text of several bytes for each character',
    frames: [start, ...textBlock(0, 'Grüße ', '世界 👩‍🚀'), ...end('end_turn')],
    whole: whole([{ type: 'text', text: 'Grüße 世界 👩‍🚀' }]),
    says: saysText(0, 'Grüße ', '世界 👩‍🚀'),
    end: 'completed',
    output: [message(0, text('Grüße 世界 👩‍🚀'))],
    usage: USAGE,
  },
  {
    name: 'two blocks of text',
    frames: [start, ...textBlock(0, 'One.'), ...textBlock(1, 'Two.'), ...end('end_turn')],
    whole: whole([
      { type: 'text', text: 'One.' },
      { type: 'text', text: 'Two.' },
    ]),
    says: [
      ...saysText(0, 'One.').slice(0, -1),
      'content_part.added 0.1 output_text',
      'output_text.delta 0.1 "Two."',
      'output_text.done 0.1 "Two."',
      'content_part.done 0.1 output_text',
      'output_item.done 0 message',
    ],
    end: 'completed',
    output: [message(0, text('One.'), text('Two.'))],
    usage: USAGE,
  },
  {
    name: 'tokens from caches',
    frames: [
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          model: 'claude',
          content: [],
          usage: {
            input_tokens: 5,
            cache_read_input_tokens: 60,
            cache_creation_input_tokens: 7,
            output_tokens: 1,
          },
        },
      },
      ...textBlock(0, 'Hi'),
      ...end('end_turn'),
    ],
    whole: whole([{ type: 'text', text: 'Hi' }], 'end_turn', {
      usage: {
        input_tokens: 5,
        cache_read_input_tokens: 60,
        cache_creation_input_tokens: 7,
        output_tokens: 4,
      },
    }),
    says: saysText(0, 'Hi'),
    end: 'completed',
    output: [message(0, text('Hi'))],
    usage: '72 / 60 / 4 / 0',
  },
  {
    name: 'thinking with its signature, for a client that returns it',
    request: { include },
    frames: [start, ...thinkingBlock(0, 'sig==', 'Hm', '.'), ...textBlock(1, 'Hi'), ...end('end_turn')],
    whole: whole([
      { type: 'thinking', thinking: 'Hm.', signature: 'sig==' },
      { type: 'text', text: 'Hi' },
    ]),
    says: [...saysThinking(0, 'Hm', '.'), ...saysText(1, 'Hi')],
    end: 'completed',
    output: [reasoning(0, 'Hm.', 'relay-seal-2:maker:thinking:sig=='), message(1, text('Hi'))],
    usage: USAGE,
  },
  {
    name: 'thinking for a client that does not return it',
    frames: [start, ...thinkingBlock(0, 'sig==', 'Hm.'), ...textBlock(1, 'Hi'), ...end('end_turn')],
    whole: whole([
      { type: 'thinking', thinking: 'Hm.', signature: 'sig==' },
      { type: 'text', text: 'Hi' },
    ]),
    says: [...saysThinking(0, 'Hm.'), ...saysText(1, 'Hi')],
    end: 'completed',
    output: [reasoning(0, 'Hm.'), message(1, text('Hi'))],
    usage: USAGE,
  },
  {
    name: 'two blocks of thinking, the second without its text, and a redacted one',
    request: { include },
    frames: [
      start,
      ...thinkingBlock(0, 's1', 'One.'),
      ...thinkingBlock(1, 's2'),
      open(2, { type: 'redacted_thinking', data: 'xyz' }),
      close(2),
      ...textBlock(3, 'Hi'),
      ...end('end_turn'),
    ],
    whole: whole([
      { type: 'thinking', thinking: 'One.', signature: 's1' },
      { type: 'thinking', thinking: '', signature: 's2' },
      { type: 'redacted_thinking', data: 'xyz' },
      { type: 'text', text: 'Hi' },
    ]),
    says: [
      ...saysThinking(0, 'One.'),
      'output_item.added 1 reasoning',
      'output_item.done 1 reasoning',
      'output_item.added 2 reasoning',
      'output_item.done 2 reasoning',
      ...saysText(3, 'Hi'),
    ],
    end: 'completed',
    output: [
      reasoning(0, 'One.', 'relay-seal-2:maker:thinking:s1'),
      reasoning(1, null, 'relay-seal-2:maker:thinking:s2'),
      reasoning(2, null, 'relay-seal-2:maker:redacted_thinking:xyz'),
      message(3, text('Hi')),
    ],
    usage: USAGE,
  },
  {
    name: 'words and two calls',
    request: { tools },
    frames: [
      start,
      ...textBlock(0, 'Look.'),
      ...toolBlock(1, 'toolu_1', 'read', '', '{"pa', 'th":"x"}'),
      ...toolBlock(2, 'toolu_2', 'mcp__docs__find'),
      ...end('tool_use'),
    ],
    whole: whole(
      [
        { type: 'text', text: 'Look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'x' } },
        { type: 'tool_use', id: 'toolu_2', name: 'mcp__docs__find', input: {} },
      ],
      'tool_use',
    ),
    says: [
      ...saysText(0, 'Look.'),
      ...saysCall(1, '{"pa', 'th":"x"}').slice(0, -2),
      ...saysCall(2, '{}').slice(0, -2),
      ...saysCall(1, '{"path":"x"}').slice(-2),
      ...saysCall(2, '{}').slice(-2),
    ],
    end: 'completed',
    output: [
      message(0, text('Look.')),
      functionCall(1, 'toolu_1', 'read', '{"path":"x"}'),
      { ...functionCall(2, 'toolu_2', 'find', '{}'), namespace: 'mcp__docs__' },
    ],
    usage: USAGE,
  },
  {
    name: 'a custom call',
    request: { tools },
    frames: [start, ...toolBlock(0, 'toolu_1', 'edit', '{"inp', 'ut": "a\\n', 'ü"}'), ...end('tool_use')],
    whole: whole([{ type: 'tool_use', id: 'toolu_1', name: 'edit', input: { input: 'a\nü' } }], 'tool_use'),
    says: saysCustom(0, 'a\n', 'ü'),
    end: 'completed',
    output: [customCall(0, 'toolu_1', 'edit', 'a\nü')],
    usage: USAGE,
  },
  {
    name: 'a custom call that was cut off',
    request: { tools },
    frames: [start, ...toolBlock(0, 'toolu_1', 'edit', '{"input":"a\\u00'), ...end('max_tokens')],
    whole: null,
    says: saysCustom(0, 'a'),
    end: 'incomplete max_output_tokens',
    output: [{ ...customCall(0, 'toolu_1', 'edit', 'a'), status: 'incomplete' }],
    usage: USAGE,
  },
  {
    name: 'text that was cut off',
    frames: [start, ...textBlock(0, 'Once'), ...end('max_tokens')],
    whole: whole([{ type: 'text', text: 'Once' }], 'max_tokens'),
    says: saysText(0, 'Once'),
    end: 'incomplete max_output_tokens',
    output: [{ ...message(0, text('Once')), status: 'incomplete' }],
    usage: USAGE,
  },
  {
    name: 'a full context window',
    frames: [start, ...textBlock(0, 'Once'), ...end('model_context_window_exceeded')],
    whole: whole([{ type: 'text', text: 'Once' }], 'model_context_window_exceeded'),
    says: saysText(0, 'Once'),
    end: 'incomplete max_output_tokens',
    output: [{ ...message(0, text('Once')), status: 'incomplete' }],
    usage: USAGE,
  },
  {
    name: 'a stop sequence',
    frames: [start, ...textBlock(0, 'A'), ...end('stop_sequence', { stop_sequence: 'B' })],
    whole: whole([{ type: 'text', text: 'A' }], 'stop_sequence', { stop_sequence: 'B' }),
    says: saysText(0, 'A'),
    end: 'completed',
    output: [message(0, text('A'))],
    usage: USAGE,
  },
  {
    name: 'a refusal without words',
    frames: [start, ...end('refusal')],
    whole: whole([], 'refusal'),
    says: [],
    end: 'incomplete content_filter',
    output: [],
    usage: USAGE,
  },
  {
    name: 'a refusal with words',
    frames: [
      start,
      ...textBlock(0, 'First'),
      ...end('refusal', { stop_details: { type: 'refusal', category: 'bio', explanation: 'Not this.' } }),
    ],
    whole: whole([{ type: 'text', text: 'First' }], 'refusal', {
      stop_details: { type: 'refusal', category: 'bio', explanation: 'Not this.' },
    }),
    says: [
      ...saysText(0, 'First').slice(0, -1),
      'content_part.added 0.1 refusal',
      'refusal.delta 0.1 "Not this."',
      'refusal.done 0.1 "Not this."',
      'content_part.done 0.1 refusal',
      'output_item.done 0 message',
    ],
    end: 'completed',
    output: [message(0, text('First'), { type: 'refusal', refusal: 'Not this.' })],
    usage: USAGE,
  },
  {
    name: 'an error in the middle',
    frames: [
      start,
      ...textBlock(0, 'Hel').slice(0, -1),
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    ],
    whole: null,
    says: saysText(0, 'Hel').slice(0, 3),
    end: 'failed server_is_overloaded',
    output: [],
    usage: '9 / 0 / 1 / 0',
  },
  {
    name: 'a prompt that does not fit, after the first item',
    frames: [
      start,
      ...thinkingBlock(0, 's', 'Hm'),
      {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' },
      },
    ],
    whole: null,
    says: saysThinking(0, 'Hm'),
    end: 'failed context_length_exceeded',
    output: [reasoning(0, 'Hm')],
    usage: '9 / 0 / 1 / 0',
  },
  {
    name: 'a block that Responses clients cannot be given',
    frames: [start, open(0, { type: 'server_tool_use', id: 'x', name: 'web_search', input: {} })],
    whole: null,
    says: [],
    end: 'failed server_error',
    output: [],
    usage: '9 / 0 / 1 / 0',
  },
  {
    name: 'a turn that the provider paused',
    frames: [start, ...textBlock(0, 'Wait'), ...end('pause_turn')],
    whole: null,
    says: saysText(0, 'Wait').slice(0, 3),
    end: 'failed server_error',
    output: [],
    usage: USAGE,
  },
];
