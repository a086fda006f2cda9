import type { JsonObject } from '../../../kit/json-value.ts';
import type { RequestCase } from '../messages-to-chat/request-cases.fixture.ts';

const HELLO = { role: 'user', content: 'Hello!' };
const CALLED = {
  id: 'call_abc',
  type: 'function',
  function: { name: 'get_current_weather', arguments: '{"location":"Boston, MA"}' },
};
const CACHED = { cache_control: { type: 'ephemeral' } };
const USE = {
  type: 'tool_use',
  id: 'call_abc',
  name: 'get_current_weather',
  input: { location: 'Boston, MA' },
};

function user(...content: readonly unknown[]): JsonObject {
  return { messages: [{ role: 'user', content }] };
}

function result(content: unknown, id = 'call_abc'): JsonObject {
  return { type: 'tool_result', tool_use_id: id, content };
}

function toolMessage(content: unknown, id = 'call_abc'): JsonObject {
  return { role: 'tool', tool_call_id: id, content };
}

function call(...messages: readonly JsonObject[]): JsonObject {
  return { messages: [HELLO, { role: 'assistant', content: null, tool_calls: [CALLED] }, ...messages] };
}

function use(...messages: readonly JsonObject[]): JsonObject {
  return { messages: [HELLO, { role: 'assistant', content: [USE] }, ...messages] };
}

export function refused(name: string, given: JsonObject, field: string): RequestCase {
  return { name, given, wanted: null, field };
}

function image(url: string, more: JsonObject = {}): JsonObject {
  return { type: 'image_url', image_url: { url, ...more } };
}

const conversation: readonly RequestCase[] = [
  { name: 'a message of text', given: {}, wanted: {} },
  {
    name: 'a system message is the system prompt',
    given: { messages: [{ role: 'system', content: 'Be helpful.' }, HELLO] },
    wanted: { system: 'Be helpful.' },
  },
  {
    name: 'a developer message is the system prompt',
    given: { messages: [{ role: 'developer', content: 'Be helpful.' }, HELLO] },
    wanted: { system: 'Be helpful.' },
  },
  {
    name: 'all of the first system messages are the system prompt',
    given: {
      messages: [
        {
          role: 'system',
          content: [{ type: 'text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } }],
        },
        { role: 'developer', content: 'b' },
        HELLO,
      ],
    },
    wanted: {
      system: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
    leftOut: ['messages[0].content[0].prompt_cache_breakpoint'],
  },
  {
    name: 'a later system message stays in the conversation',
    given: {
      messages: [
        HELLO,
        { role: 'assistant', content: 'Hi.' },
        HELLO,
        { role: 'system', content: 'Shorter.' },
      ],
    },
    wanted: {
      messages: [
        HELLO,
        { role: 'assistant', content: 'Hi.' },
        HELLO,
        { role: 'system', content: 'Shorter.' },
      ],
    },
  },
  {
    name: 'a later system message waits for the end of the turn of the user',
    given: {
      messages: [
        HELLO,
        { role: 'assistant', content: 'Hi.' },
        { role: 'developer', content: 'Shorter.' },
        HELLO,
      ],
    },
    wanted: {
      messages: [
        HELLO,
        { role: 'assistant', content: 'Hi.' },
        HELLO,
        { role: 'system', content: 'Shorter.' },
      ],
    },
    leftOut: ['messages[2].role (moved after the user turn)'],
  },
  refused(
    'a system message that no user spoke before',
    {
      messages: [
        HELLO,
        { role: 'assistant', content: 'a' },
        { role: 'system', content: 's' },
        { role: 'assistant', content: 'b' },
        HELLO,
      ],
    },
    'messages[2].role',
  ),
  {
    name: 'an earlier refusal is text',
    given: { messages: [HELLO, { role: 'assistant', content: null, refusal: 'I cannot.' }, HELLO] },
    wanted: { messages: [HELLO, { role: 'assistant', content: 'I cannot.' }, HELLO] },
  },
  {
    name: 'an earlier refusal in a part is text',
    given: {
      messages: [HELLO, { role: 'assistant', content: [{ type: 'refusal', refusal: 'I cannot.' }] }, HELLO],
    },
    wanted: { messages: [HELLO, { role: 'assistant', content: 'I cannot.' }, HELLO] },
  },
  {
    name: 'earlier reasoning of a compatible provider is left out and named',
    given: { messages: [HELLO, { role: 'assistant', content: 'Hi.', reasoning_content: 'Hm.' }, HELLO] },
    wanted: { messages: [HELLO, { role: 'assistant', content: 'Hi.' }, HELLO] },
    leftOut: ['messages[1].reasoning_content'],
  },
  refused(
    'a response that would be continued',
    { messages: [HELLO, { role: 'assistant', content: 'a' }] },
    'messages[1].role',
  ),
  refused('the name of a participant', { messages: [{ ...HELLO, name: 'Ada' }] }, 'messages[0].name'),
  refused(
    'earlier audio',
    { messages: [HELLO, { role: 'assistant', audio: { id: 'audio_1' } }, HELLO] },
    'messages[1].audio',
  ),
  refused(
    'a function message',
    { messages: [{ role: 'function', name: 'f', content: 'x' }] },
    'messages[0].role',
  ),
];

const content: readonly RequestCase[] = [
  {
    name: 'text and an image by URL',
    given: user(
      { type: 'text', text: 'What is this?' },
      image('https://example.com/a.jpg', { detail: 'auto' }),
    ),
    wanted: user(
      { type: 'text', text: 'What is this?' },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.jpg' } },
    ),
  },
  {
    name: 'an image in base64 with a detail',
    given: user(image('data:image/jpeg;base64,/9j/4AAQ', { detail: 'high' })),
    wanted: user({ type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: '/9j/4AAQ' } }),
    leftOut: ['messages[0].content[0].image_url.detail'],
  },
  refused(
    'an image of another type',
    user(image('data:image/svg+xml;base64,PHN2Zz4=')),
    'messages[0].content[0].image_url.url',
  ),
  {
    name: 'a PDF',
    given: user({
      type: 'file',
      file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
    }),
    wanted: user({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
      title: 'a.pdf',
    }),
  },
  {
    name: 'a text file',
    given: user({
      type: 'file',
      file: { filename: 'a.txt', file_data: 'data:text/plain;base64,R3LDvMOfZQ==' },
    }),
    wanted: user({
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'Grüße' },
      title: 'a.txt',
    }),
  },
  refused(
    'a file by id',
    user({ type: 'file', file: { file_id: 'file-1' } }),
    'messages[0].content[0].file.file_id',
  ),
  refused(
    'another file',
    user({ type: 'file', file: { file_data: 'data:text/csv;base64,YQ==' } }),
    'messages[0].content[0].file.file_data',
  ),
  refused(
    'audio',
    user({ type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } }),
    'messages[0].content[0].type',
  ),
];

const toolResults: readonly RequestCase[] = [
  {
    name: 'a call and its result',
    given: call(toolMessage('22 °C')),
    wanted: use({ role: 'user', content: [result('22 °C')] }),
  },
  {
    name: 'a result in parts',
    given: call(
      toolMessage([
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ]),
    ),
    wanted: use({
      role: 'user',
      content: [
        result([
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ]),
      ],
    }),
  },
  {
    name: 'what the user says after a result is in the same message',
    given: call(toolMessage('22'), { role: 'user', content: 'And now?' }),
    wanted: use({ role: 'user', content: [result('22'), { type: 'text', text: 'And now?' }] }),
  },
  {
    name: 'results of parallel calls are in one message',
    given: {
      messages: [
        HELLO,
        { role: 'assistant', content: 'Both.', tool_calls: [CALLED, { ...CALLED, id: 'call_2' }] },
        toolMessage('1'),
        toolMessage('2', 'call_2'),
      ],
    },
    wanted: {
      messages: [
        HELLO,
        { role: 'assistant', content: [{ type: 'text', text: 'Both.' }, USE, { ...USE, id: 'call_2' }] },
        { role: 'user', content: [result('1'), result('2', 'call_2')] },
      ],
    },
  },
  {
    name: 'an id with characters that Messages reject',
    given: {
      messages: [
        HELLO,
        { role: 'assistant', content: '', tool_calls: [{ ...CALLED, id: 'functions.f:0' }] },
        toolMessage('1', 'functions.f:0'),
      ],
    },
    wanted: {
      messages: [
        HELLO,
        { role: 'assistant', content: [{ ...USE, id: 'functions_2ef_3a0' }] },
        { role: 'user', content: [result('1', 'functions_2ef_3a0')] },
      ],
    },
  },
  {
    name: 'a call without arguments',
    given: {
      messages: [
        HELLO,
        { role: 'assistant', tool_calls: [{ ...CALLED, function: { name: 'f', arguments: '' } }] },
        toolMessage('1'),
      ],
    },
    wanted: {
      messages: [
        HELLO,
        { role: 'assistant', content: [{ ...USE, name: 'f', input: {} }] },
        { role: 'user', content: [result('1')] },
      ],
    },
  },
  {
    name: 'arguments that are not JSON stay in the words of the model',
    given: {
      messages: [
        HELLO,
        { role: 'assistant', tool_calls: [{ ...CALLED, function: { name: 'f', arguments: '{"a' } }] },
        toolMessage('1'),
      ],
    },
    wanted: {
      messages: [
        HELLO,
        { role: 'assistant', content: [{ ...USE, name: 'f', input: { arguments: '{"a' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_abc', content: '1' }] },
      ],
    },
    leftOut: ['messages[1].tool_calls[0].function.arguments (no JSON object: wrapped in one)'],
  },
  {
    name: 'a message of the developer between two of the user comes after both, and is named',
    given: { messages: [HELLO, { role: 'developer', content: 'Shorter.' }, { role: 'user', content: 'b' }] },
    wanted: {
      messages: [HELLO, { role: 'user', content: 'b' }, { role: 'system', content: 'Shorter.' }],
    },
    leftOut: ['messages[1].role (moved after the user turn)'],
  },
  {
    name: 'cache control in parts',
    given: {
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be brief.', ...CACHED }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a', ...CACHED },
            { type: 'image_url', image_url: { url: 'data:image/jpg;base64,AAAA' }, ...CACHED },
          ],
        },
      ],
    },
    wanted: {
      system: [{ type: 'text', text: 'Be brief.', ...CACHED }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a', ...CACHED },
            { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' }, ...CACHED },
          ],
        },
      ],
    },
  },
  refused('a system message alone', { messages: [{ role: 'system', content: 'a' }] }, 'messages'),
  refused('an empty message', { messages: [{ role: 'user', content: '' }] }, 'messages'),
  refused('a message without parts', { messages: [{ role: 'user', content: [] }] }, 'messages'),
  refused('no messages', { messages: [] }, 'messages'),
  refused(
    'a call of a custom tool',
    {
      messages: [
        HELLO,
        { role: 'assistant', tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'x', input: 'y' } }] },
        toolMessage('1'),
      ],
    },
    'messages[1].tool_calls[0].custom',
  ),
];

export const messageCases: readonly RequestCase[] = [...conversation, ...content, ...toolResults];
