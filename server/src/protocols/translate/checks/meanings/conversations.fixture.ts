import type { JsonObject } from '../../../../kit/json-value.ts';
import { everywhere, type MeaningCase, type Outcome } from './meaning-case.fixture.ts';

const TOOL_USE = { chat: { role: 'assistant', content: null }, id: 'call_1' };

/** A call with these arguments, and its result. */
function called(json: string, id = TOOL_USE.id, name = 'f'): MeaningCase['from'] {
  return {
    chat: {
      says: {
        messages: [
          { role: 'user', content: 'Hi' },
          { ...TOOL_USE.chat, tool_calls: [{ id, type: 'function', function: { name, arguments: json } }] },
          { role: 'tool', tool_call_id: id, content: '1' },
        ],
      },
    },
    responses: {
      says: {
        input: [
          { role: 'user', content: 'Hi' },
          { type: 'function_call', call_id: id, name, arguments: json },
          { type: 'function_call_output', call_id: id, output: '1' },
        ],
      },
    },
    messages: {
      says: {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: [{ type: 'tool_use', id, name, input: objectIn(json) }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: '1' }] },
        ],
      },
    },
  };
}

function objectIn(json: string): unknown {
  return json.startsWith('{') && json.endsWith('}') ? JSON.parse(json) : { arguments: json };
}

function calledAt(input: unknown, json: string, id = TOOL_USE.id, name = 'f'): MeaningCase['to'] {
  return {
    messages: {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id, name, input }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: '1' }] },
      ],
    },
    chat: {
      messages: [
        { role: 'user', content: 'Hi' },
        { ...TOOL_USE.chat, tool_calls: [{ id, type: 'function', function: { name, arguments: json } }] },
        { role: 'tool', tool_call_id: id, content: '1' },
      ],
    },
  };
}

function image(url: string): MeaningCase['from'] {
  return {
    chat: {
      says: { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] },
      path: 'messages[0].content[0].image_url.url',
    },
    responses: {
      says: { input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] },
      path: 'input[0].content[0].image_url',
    },
  };
}

function imageAt(source: JsonObject): Outcome {
  return { messages: [{ role: 'user', content: [{ type: 'image', source }] }] };
}

const LONG_ID = 'i'.repeat(50);
const SHORT_ID = `${'i'.repeat(31)}_cff7aff1`;

export const conversations: readonly MeaningCase[] = [
  { meaning: 'a call', from: called('{"a":1}'), to: calledAt({ a: 1 }, '{"a":1}') },
  {
    meaning: 'a call without input',
    from: { ...called(''), messages: called('{}').messages ?? { says: {} } },
    to: calledAt({}, '{}'),
  },
  {
    meaning: 'arguments that were cut off',
    from: called('{"a'),
    to: { messages: calledAt({ arguments: '{"a' }, '').messages ?? {} },
  },
  {
    meaning: 'arguments that are no object',
    from: called('[1]'),
    to: { messages: calledAt({ arguments: '[1]' }, '').messages ?? {} },
  },
  {
    meaning: 'a long id of a call',
    from: called('{"a":1}', LONG_ID),
    to: {
      chat: calledAt({}, '{"a":1}', SHORT_ID).chat ?? {},
      messages: calledAt({ a: 1 }, '', LONG_ID).messages ?? {},
    },
  },
  {
    meaning: 'an id with other characters',
    from: called('{"a":1}', 'functions.f:0'),
    to: { messages: calledAt({ a: 1 }, '', 'functions_2ef_3a0').messages ?? {} },
  },
  {
    meaning: 'an image by its other name',
    from: image('data:image/jpg;base64,AAAA'),
    to: { messages: imageAt({ type: 'base64', media_type: 'image/jpeg', data: 'AAAA' }) },
  },
  ...['jpeg', 'png', 'gif', 'webp'].map((type) => ({
    meaning: `an image of the type ${type}`,
    from: image(`data:image/${type};base64,AAAA`),
    to: { messages: imageAt({ type: 'base64', media_type: `image/${type}`, data: 'AAAA' }) },
  })),
  {
    meaning: 'an image by its address',
    from: image('https://a.example/x.png'),
    to: { messages: imageAt({ type: 'url', url: 'https://a.example/x.png' }) },
  },
  {
    meaning: 'an image of another type',
    from: image('data:image/tiff;base64,AAAA'),
    to: { messages: 'refused' },
  },
  {
    meaning: 'instructions alone',
    from: {
      chat: { says: { messages: [{ role: 'system', content: 'a' }] }, path: 'messages' },
      responses: { says: { instructions: 'a', input: [] }, path: 'input' },
    },
    to: { messages: 'refused' },
  },
  {
    meaning: 'an empty message',
    from: {
      chat: { says: { messages: [{ role: 'user', content: '' }] }, path: 'messages' },
      responses: { says: { input: '' }, path: 'input' },
    },
    to: { messages: 'refused' },
  },
  {
    meaning: 'no messages',
    from: {
      chat: { says: { messages: [] }, path: 'messages' },
      responses: { says: { input: [] }, path: 'input' },
      messages: { says: { messages: [] }, path: 'messages' },
    },
    to: everywhere('refused'),
  },
  {
    meaning: 'a message without content',
    from: {
      chat: { says: { messages: [{ role: 'user', content: [] }] }, path: 'messages' },
      responses: { says: { input: [{ role: 'user', content: [] }] }, path: 'input' },
      messages: { says: { messages: [{ role: 'user', content: [] }] }, path: 'messages' },
    },
    to: everywhere('refused'),
  },
  {
    meaning: 'instructions between messages of the user',
    from: {
      chat: {
        says: {
          messages: [
            { role: 'user', content: 'a' },
            { role: 'developer', content: 'b' },
            { role: 'assistant', content: 'c' },
            { role: 'user', content: 'd' },
          ],
        },
      },
      responses: {
        says: {
          input: [
            { role: 'user', content: 'a' },
            { role: 'developer', content: 'b' },
            { role: 'assistant', content: 'c' },
            { role: 'user', content: 'd' },
          ],
        },
      },
    },
    to: {
      messages: {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'system', content: 'b' },
          { role: 'assistant', content: 'c' },
          { role: 'user', content: 'd' },
        ],
      },
    },
  },
];
