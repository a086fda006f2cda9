import { type JsonObject, objectOf } from '../../../kit/json-value.ts';
import { shortName } from '../tool-names.ts';

export interface WholeCase {
  readonly name: string;
  readonly given: unknown;
  /** The whole answer, or the members that the case is about with what every answer of the table has. */
  readonly wanted: unknown;
  /** Of the client's request. */
  readonly request?: JsonObject;
}

export interface StreamCase {
  readonly name: string;
  /** Data of the provider's events; a text is a frame as it is. */
  readonly given: readonly unknown[];
  readonly wanted: readonly unknown[];
  readonly request?: JsonObject;
}

const ID = 'chatcmpl-123';
export const ENVELOPE = {
  id: ID,
  created: 1_694_268_190,
  model: 'gpt-6-astra',
  system_fingerprint: 'fp_44709d6fcb',
};
export const USAGE = { prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 };
export const ZERO = {
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens_details: null,
  server_tool_use: null,
};
export const COUNTS = { ...ZERO, input_tokens: 19, output_tokens: 10 };
/** What only the beginning of a stream and a whole message count. */
export const UNCOUNTED = { cache_creation: null, inference_geo: null, service_tier: null, speed: null };
const REFUSED = { type: 'refusal', category: null, explanation: null };

function completion(message: JsonObject, reason = 'stop', more: JsonObject = {}): JsonObject {
  const choice = {
    index: 0,
    message: { role: 'assistant', ...message },
    logprobs: null,
    finish_reason: reason,
  };
  return { ...ENVELOPE, object: 'chat.completion', choices: [choice], usage: USAGE, ...more };
}

export function message(content: readonly unknown[], reason = 'end_turn', more: JsonObject = {}): JsonObject {
  return {
    id: 'msg_123',
    type: 'message',
    role: 'assistant',
    model: 'gpt-6-astra',
    container: null,
    diagnostics: null,
    content: content.map((each) => completeBlock(objectOf(each))),
    ...ended(reason),
    usage: { ...COUNTS, ...UNCOUNTED },
    ...more,
  };
}

export function ended(reason: string): JsonObject {
  const details = reason === 'refusal' ? REFUSED : null;
  return { stop_reason: reason, stop_sequence: null, stop_details: details };
}

/** With the members that clients require and no case is about. */
export function completeBlock(block: JsonObject): JsonObject {
  if (block['type'] === 'text') return { ...block, citations: null };
  return block['type'] === 'tool_use' ? { ...block, caller: { type: 'direct' } } : block;
}

export function call(id: string, args: unknown, name = 'get_weather'): JsonObject {
  return { id, type: 'function', function: { name, arguments: args } };
}

function use(id: string, input: JsonObject, name = 'get_weather'): JsonObject {
  return { type: 'tool_use', id, name, input };
}

export function apiError(text: string): JsonObject {
  return { type: 'error', error: { type: 'api_error', message: text }, request_id: 'req_1' };
}

export function untranslatable(what: string): JsonObject {
  return apiError(`The provider's response has ${what}, which cannot be translated.`);
}

const TEXT = { type: 'text', text: 'Hello! How can I help?' };
export const BOSTON = '{"location":"Boston"}';

export const LONG_NAME = `mcp__${'n'.repeat(70)}`;
export const LONG_TOOLS = { tools: [{ name: LONG_NAME }, { name: 'short' }] };

export const wholeCases: readonly WholeCase[] = [
  {
    name: 'text',
    given: completion({ content: TEXT.text, refusal: null, annotations: [] }),
    wanted: message([TEXT]),
  },
  {
    name: 'a call',
    given: completion({ content: null, tool_calls: [call('call_a', BOSTON)] }, 'tool_calls'),
    wanted: message([use('call_a', { location: 'Boston' })], 'tool_use'),
  },
  {
    name: 'a call by the name that was shortened for the provider',
    request: LONG_TOOLS,
    given: completion(
      { content: null, tool_calls: [call('call_a', BOSTON, shortName(LONG_NAME))] },
      'tool_calls',
    ),
    wanted: message([use('call_a', { location: 'Boston' }, LONG_NAME)], 'tool_use'),
  },
  {
    name: 'text and parallel calls',
    given: completion(
      { content: 'Both.', tool_calls: [call('call_a', BOSTON), call('call_b', '{}', 'now')] },
      'tool_calls',
    ),
    wanted: message(
      [{ type: 'text', text: 'Both.' }, use('call_a', { location: 'Boston' }), use('call_b', {}, 'now')],
      'tool_use',
    ),
  },
  {
    name: 'a forced call ends with stop',
    given: completion({ content: null, tool_calls: [call('call_a', BOSTON)] }, 'stop'),
    wanted: message([use('call_a', { location: 'Boston' })], 'tool_use'),
  },
  {
    name: 'a call without arguments, and an id that Messages reject',
    given: completion({ content: '', tool_calls: [call('functions.now:0', '', 'now')] }, 'tool_calls'),
    wanted: message([use('functions_2enow_3a0', {}, 'now')], 'tool_use'),
  },
  {
    name: 'a call without an id, with its input as an object',
    given: completion(
      { content: '', tool_calls: [{ function: { name: 'now', arguments: { zone: 'UTC' } } }] },
      'stop',
    ),
    wanted: message([use('call_chatcmpl-123_0', { zone: 'UTC' }, 'now')], 'tool_use'),
  },
  {
    name: 'the output limit within a call',
    given: completion({ content: null, tool_calls: [call('call_a', '{"loca')] }, 'length'),
    wanted: message([use('call_a', {})], 'max_tokens'),
  },
  {
    name: 'arguments that are not JSON',
    given: completion({ content: null, tool_calls: [call('call_a', '{"loca')] }, 'tool_calls'),
    wanted: apiError(
      "The provider's response is invalid: the input of tool call call_a is not a JSON object.",
    ),
  },
  {
    name: 'the output limit',
    given: completion({ content: 'Hel' }, 'length'),
    wanted: message([{ type: 'text', text: 'Hel' }], 'max_tokens'),
  },
  {
    name: 'a content filter',
    given: completion({ content: null }, 'content_filter'),
    wanted: message([], 'refusal'),
  },
  {
    name: 'a refusal',
    given: completion({ content: null, refusal: 'I cannot.' }),
    wanted: message([{ type: 'text', text: 'I cannot.' }], 'refusal'),
  },
  {
    name: 'a stop sequence that the provider names',
    given: {
      ...completion({}),
      choices: [
        { index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop', stop_reason: 'END' },
      ],
    },
    wanted: message([{ type: 'text', text: 'a' }], 'stop_sequence', { stop_sequence: 'END' }),
  },
  {
    name: 'reasoning has no signature and says so',
    given: completion({ content: 'Yes.', reasoning: 'Hm.' }),
    wanted: message([
      { type: 'thinking', thinking: 'Hm.', signature: 'relay-unsigned' },
      { type: 'text', text: 'Yes.' },
    ]),
  },
  {
    name: 'reasoning that the client does not want to see',
    given: completion({ content: 'Yes.', reasoning: 'Hm.' }),
    wanted: message([{ type: 'text', text: 'Yes.' }]),
    request: { thinking: { type: 'adaptive', display: 'omitted' } },
  },
  {
    name: 'reasoning in a part of the content',
    given: completion({
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
        { type: 'text', text: 'Yes.' },
      ],
    }),
    wanted: message([
      { type: 'thinking', thinking: 'Hm.', signature: 'relay-unsigned' },
      { type: 'text', text: 'Yes.' },
    ]),
  },
  {
    name: 'tokens from a cache are counted apart',
    given: completion({ content: 'a' }, 'stop', {
      usage: {
        prompt_tokens: 2006,
        completion_tokens: 300,
        total_tokens: 2306,
        prompt_tokens_details: { cached_tokens: 1920, cache_write_tokens: 40 },
        completion_tokens_details: { reasoning_tokens: 120 },
      },
    }),
    wanted: message([{ type: 'text', text: 'a' }], 'end_turn', {
      usage: {
        ...COUNTS,
        ...UNCOUNTED,
        cache_creation: { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 0 },
        input_tokens: 46,
        cache_read_input_tokens: 1920,
        cache_creation_input_tokens: 40,
        output_tokens: 300,
        output_tokens_details: { thinking_tokens: 120 },
      },
    }),
  },
  {
    name: 'audio',
    given: completion({ content: null, audio: { id: 'a' } }),
    wanted: untranslatable('the message member audio'),
  },
  {
    name: 'annotations',
    given: completion({ content: 'a', annotations: [{}] }),
    wanted: message([{ type: 'text', text: 'a' }]),
  },
  {
    name: 'a custom call',
    given: completion({ tool_calls: [{ id: 'c', type: 'custom', custom: {} }] }, 'tool_calls'),
    wanted: untranslatable('a tool call that does not call a function'),
  },
  {
    name: 'an unknown finish reason',
    given: completion({ content: 'a' }, 'bored'),
    wanted: untranslatable('the finish reason bored'),
  },
  {
    name: 'an error with a good status',
    given: { error: { message: 'Full.', type: 'server_error' } },
    wanted: apiError('Full.'),
  },
  {
    name: 'reasoning that the provider wants back',
    given: completion({ content: 'Yes.', reasoning_content: 'Hm.' }),
    wanted: message([
      { type: 'thinking', thinking: 'Hm.', signature: 'relay-seal-2:maker:text:' },
      { type: 'text', text: 'Yes.' },
    ]),
  },
  {
    name: 'no choices',
    given: { ...ENVELOPE, object: 'chat.completion', choices: [] },
    wanted: untranslatable('no choices'),
  },
];
