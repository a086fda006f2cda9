import type { JsonObject } from '../../../../kit/json-value.ts';
import type { ClientProtocol, ProviderProtocol } from '../../meanings.ts';
import { everywhere, type MeaningCase } from './meaning-case.fixture.ts';

const LONG_NAME = 'n'.repeat(70);
const SHORT_NAME = `${'n'.repeat(55)}_85069ddf`;
const OPEN = { type: 'object', properties: { a: { type: 'string' } } };
const OPTIONAL = { ...OPEN, additionalProperties: false };
const CLOSED = { ...OPTIONAL, required: ['a'] };
const BOUNDED = {
  ...CLOSED,
  properties: {
    a: { type: 'integer', minimum: 1 },
    // A property may have the name of a bound.
    maximum: {
      anyOf: [
        { type: 'string', maxLength: 9 },
        { type: 'array', items: { type: 'number', minimum: 0 } },
      ],
    },
  },
  required: ['a', 'maximum'],
};
const UNBOUND = {
  ...BOUNDED,
  properties: {
    a: { type: 'integer' },
    maximum: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'number' } }] },
  },
};

/** A function that all three declare. Responses make it strict if they are not told otherwise. */
function tool(schema: unknown, strict: boolean, more: Partial<Record<ClientProtocol, JsonObject>> = {}) {
  const chatStrict = strict ? { strict } : {};
  return {
    chat: {
      says: {
        tools: [{ type: 'function', function: { name: 'f', parameters: schema, ...chatStrict } }],
        ...more.chat,
      },
      path: 'tools[0].function.strict',
    },
    messages: {
      says: { tools: [{ name: 'f', input_schema: schema, ...chatStrict }], ...more.messages },
      path: 'tools[0].strict',
    },
    responses: {
      says: { tools: [{ type: 'function', name: 'f', parameters: schema, strict }], ...more.responses },
      path: 'tools[0].strict',
    },
  };
}

/** What providers get of it. */
function toolAt(schema: unknown, strict: boolean, more: Partial<Record<ProviderProtocol, JsonObject>> = {}) {
  const said = strict ? { strict } : {};
  return {
    chat: {
      tools: [{ type: 'function', function: { name: 'f', parameters: schema, ...said } }],
      ...more.chat,
    },
    messages: { tools: [{ name: 'f', input_schema: schema, ...said }], ...more.messages },
  };
}

/** An answer that keeps to a schema. */
function format(schema: unknown, within = ''): MeaningCase['from'] {
  return {
    chat: {
      says: { response_format: { type: 'json_schema', json_schema: { schema, strict: true } } },
      path: `response_format.json_schema.schema${within}`,
    },
    responses: {
      says: { text: { format: { type: 'json_schema', schema, strict: true } } },
      path: `text.format.schema${within}`,
    },
  };
}

const NAMED_F = {
  chat: { tool_choice: { type: 'function', function: { name: 'f' } } },
  messages: { tool_choice: { type: 'tool', name: 'f' } },
  responses: { tool_choice: { type: 'function', name: 'f' } },
};
const FORCED = {
  chat: { tool_choice: 'required' },
  messages: { tool_choice: { type: 'any' } },
  responses: { tool_choice: 'required' },
};
const NONE = {
  chat: { tool_choice: 'none' },
  messages: { tool_choice: { type: 'none' } },
  responses: { tool_choice: 'none' },
};

export const tools: readonly MeaningCase[] = [
  { meaning: 'a function that is not strict', from: tool(OPEN, false), to: toolAt(OPEN, false) },
  { meaning: 'a strict function', from: tool(CLOSED, true), to: toolAt(CLOSED, true) },
  { meaning: 'a strict function with an open schema', from: tool(OPEN, true), to: everywhere('named') },
  {
    meaning: 'a strict function with an optional property',
    from: tool(OPTIONAL, true),
    to: everywhere('named'),
  },
  {
    meaning: 'a strict function with a bound on a number',
    from: tool(BOUNDED, true),
    to: { chat: toolAt(BOUNDED, true).chat, messages: 'named' },
  },
  { meaning: 'a certain function', from: tool(OPEN, false, NAMED_F), to: toolAt(OPEN, false, NAMED_F) },
  { meaning: 'any function', from: tool(OPEN, false, FORCED), to: toolAt(OPEN, false, FORCED) },
  { meaning: 'no function', from: tool(OPEN, false, NONE), to: toolAt(OPEN, false, NONE) },
  {
    meaning: 'one call at a time',
    from: tool(OPEN, false, {
      chat: { parallel_tool_calls: false },
      responses: { parallel_tool_calls: false },
    }),
    to: {
      messages: toolAt(OPEN, false, {
        messages: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      }).messages,
    },
  },
  {
    meaning: 'a choice without tools',
    from: {
      chat: { says: { tool_choice: 'auto', parallel_tool_calls: false } },
      responses: { says: { tool_choice: 'auto', parallel_tool_calls: false } },
      messages: { says: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } } },
    },
    to: everywhere({}),
  },
  {
    meaning: 'a forced call without tools',
    from: {
      chat: { says: FORCED.chat, path: 'tool_choice' },
      responses: { says: FORCED.responses, path: 'tool_choice' },
      messages: { says: FORCED.messages, path: 'tool_choice' },
    },
    to: everywhere('refused'),
  },
  {
    meaning: 'tools that are allowed',
    from: tool(OPEN, false, {
      chat: {
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] },
        },
      },
      // Messages say it by offering no others.
      messages: FORCED.messages,
      responses: {
        tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] },
      },
    }),
    to: toolAt(OPEN, false, FORCED),
  },
  {
    meaning: 'a custom tool',
    from: {
      chat: { says: { tools: [{ type: 'custom', custom: { name: 'f' } }] }, path: 'tools[0].custom' },
      responses: { says: { tools: [{ type: 'custom', name: 'f' }] } },
    },
    to: {
      messages: {
        tools: [
          {
            name: 'f',
            input_schema: {
              type: 'object',
              properties: { input: { type: 'string', description: 'The whole input of the tool, as text.' } },
              required: ['input'],
              additionalProperties: false,
            },
          },
        ],
      },
    },
    except: {
      client: 'chat',
      provider: 'messages',
      outcome: 'refused',
      why: 'Calls of custom tools have a shape of their own in chat completions, which the writer of answers does not have.',
    },
  },
  {
    meaning: 'a long name of a tool',
    from: {
      messages: { says: { tools: [{ name: LONG_NAME, input_schema: OPEN }] } },
      responses: {
        says: { tools: [{ type: 'function', name: LONG_NAME, parameters: OPEN, strict: false }] },
      },
    },
    to: { chat: { tools: [{ type: 'function', function: { name: SHORT_NAME, parameters: OPEN } }] } },
  },
  {
    meaning: 'a schema for the answer',
    from: format(CLOSED),
    to: { messages: { output_config: { format: { type: 'json_schema', schema: CLOSED } } } },
  },
  { meaning: 'an open schema for the answer', from: format(OPEN), to: { messages: 'refused' } },
  {
    meaning: 'a schema with bounds for the answer, named',
    from: format(BOUNDED, '.minimum'),
    to: { messages: 'named' },
  },
  {
    meaning: 'a schema with bounds for the answer, sent',
    from: format(BOUNDED),
    to: { messages: { output_config: { format: { type: 'json_schema', schema: UNBOUND } } } },
  },
  { meaning: 'a schema that is none', from: format('x'), to: { messages: 'refused' } },
];
