import type { JsonObject } from '../../../kit/json-value.ts';
import type { WholeCase } from '../messages-to-chat/whole-cases.fixture.ts';

const ID = 'msg_01XFDUDYJgAACzvnptvVoYEL';
export const CHAT_ID = 'chatcmpl-01XFDUDYJgAACzvnptvVoYEL';
export const MODEL = 'claude-opus-5';
export const CREATED = 1_700_000_000;

export function message(content: readonly unknown[], reason = 'end_turn', more: JsonObject = {}): JsonObject {
  const usage = { input_tokens: 12, output_tokens: 6 };
  const stop = { stop_reason: reason, stop_sequence: null, stop_details: null };
  return { id: ID, type: 'message', role: 'assistant', model: MODEL, content, ...stop, usage, ...more };
}

export function usageOf(input: number, output: number, details: JsonObject = {}, reasoning = 0): JsonObject {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, ...details },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

function completion(given: JsonObject, reason = 'stop', usage = usageOf(12, 6)): JsonObject {
  const said = { role: 'assistant', content: null, refusal: null, ...given };
  return {
    id: CHAT_ID,
    object: 'chat.completion',
    created: CREATED,
    model: MODEL,
    choices: [{ index: 0, message: said, logprobs: null, finish_reason: reason }],
    usage,
  };
}

export function error(text: string, type = 'server_error', code = 'api_error'): JsonObject {
  return { error: { message: text, type, param: null, code } };
}

export function untranslatable(what: string): JsonObject {
  return error(`The provider's response has ${what}, which cannot be translated.`);
}

const HELLO = { type: 'text', text: 'Hello!', citations: null };
const USE = {
  type: 'tool_use',
  id: 'toolu_1',
  name: 'get_weather',
  input: { location: 'Boston' },
  caller: { type: 'direct' },
};
const CALL = {
  id: 'toolu_1',
  type: 'function',
  function: { name: 'get_weather', arguments: '{"location":"Boston"}' },
};
export const PAUSED = error('The provider paused the response, which a chat completion cannot express.');

export const wholeCases: readonly WholeCase[] = [
  { name: 'text', given: message([HELLO]), wanted: completion({ content: 'Hello!' }) },
  {
    name: 'two blocks of text',
    given: message([HELLO, { type: 'text', text: ' Hi!' }]),
    wanted: completion({ content: 'Hello! Hi!' }),
  },
  {
    name: 'a call',
    given: message([USE], 'tool_use'),
    wanted: completion({ tool_calls: [CALL] }, 'tool_calls'),
  },
  {
    name: 'text and parallel calls, one without input',
    given: message([HELLO, USE, { ...USE, id: 'toolu_2', name: 'now', input: {} }], 'tool_use'),
    wanted: completion(
      {
        content: 'Hello!',
        tool_calls: [CALL, { id: 'toolu_2', type: 'function', function: { name: 'now', arguments: '{}' } }],
      },
      'tool_calls',
    ),
  },
  {
    name: 'thinking with a signature, and redacted thinking',
    given: message([
      { type: 'thinking', thinking: 'Hm.', signature: 'EqQB' },
      { type: 'redacted_thinking', data: 'Em' },
      HELLO,
    ]),
    wanted: completion({ content: 'Hello!', reasoning_content: 'Hm.' }),
  },
  {
    name: 'the output limit',
    given: message([HELLO], 'max_tokens'),
    wanted: completion({ content: 'Hello!' }, 'length'),
  },
  {
    name: 'the context window',
    given: message([HELLO], 'model_context_window_exceeded'),
    wanted: completion({ content: 'Hello!' }, 'length'),
  },
  {
    name: 'a stop sequence',
    given: message([HELLO], 'stop_sequence', { stop_sequence: 'END' }),
    wanted: completion({ content: 'Hello!' }),
  },
  {
    name: 'a refusal with its explanation',
    given: message([HELLO], 'refusal', {
      stop_details: { type: 'refusal', category: 'cyber', explanation: 'No.' },
    }),
    wanted: completion({ content: 'Hello!', refusal: 'No.' }, 'content_filter'),
  },
  {
    name: 'a refusal without words',
    given: message([], 'refusal'),
    wanted: completion({}, 'content_filter'),
  },
  { name: 'a pause', given: message([HELLO], 'pause_turn'), wanted: PAUSED },
  {
    name: 'tokens from and for a cache are part of the input',
    given: message([HELLO], 'end_turn', {
      usage: {
        input_tokens: 50,
        cache_read_input_tokens: 100_000,
        cache_creation_input_tokens: 248,
        cache_creation: { ephemeral_5m_input_tokens: 148, ephemeral_1h_input_tokens: 100 },
        output_tokens: 503,
        output_tokens_details: { thinking_tokens: 400 },
      },
    }),
    wanted: completion(
      { content: 'Hello!' },
      'stop',
      usageOf(100_298, 503, { cached_tokens: 100_000, cache_write_tokens: 248 }, 400),
    ),
  },
  {
    name: 'a search of the provider',
    given: message([{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }]),
    wanted: untranslatable('content of the type server_tool_use'),
  },
  {
    name: 'citations',
    given: message([{ ...HELLO, citations: [{ type: 'page_location' }] }]),
    wanted: completion({ content: 'Hello!' }),
  },
  {
    name: 'an unknown stop reason',
    given: message([HELLO], 'bored'),
    wanted: untranslatable('the stop reason bored'),
  },
  {
    name: 'an error with a good status',
    given: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    wanted: error('Overloaded', 'overloaded_error', 'overloaded_error'),
  },
  { name: 'no content', given: { id: ID, type: 'message' }, wanted: untranslatable('no content') },
];
