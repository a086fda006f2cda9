import type { JsonObject } from '../../../kit/json-value.ts';
import type { RequestCase } from '../messages-to-chat/request-cases.fixture.ts';
import { refused } from './request-cases.fixture.ts';

const SCHEMA = {
  type: 'object',
  properties: { location: { type: 'string', description: 'City and state' } },
  required: ['location'],
};
const CLOSED = { ...SCHEMA, additionalProperties: false };
const CACHED = { cache_control: { type: 'ephemeral' } };
const FUNCTION = {
  type: 'function',
  function: { name: 'get_current_weather', description: 'The weather', parameters: SCHEMA },
};
const TOOL = { name: 'get_current_weather', description: 'The weather', input_schema: SCHEMA };

function withTools(more: JsonObject): JsonObject {
  return { tools: [FUNCTION], ...more };
}

export const toolCases: readonly RequestCase[] = [
  { name: 'a tool', given: withTools({}), wanted: { tools: [TOOL] } },
  {
    name: 'a strict tool',
    given: { tools: [{ ...FUNCTION, function: { ...FUNCTION.function, parameters: CLOSED, strict: true } }] },
    wanted: { tools: [{ ...TOOL, input_schema: CLOSED, strict: true }] },
  },
  {
    name: 'a strict tool with a schema that Messages reject',
    given: { tools: [{ ...FUNCTION, function: { ...FUNCTION.function, strict: true } }] },
    wanted: { tools: [TOOL] },
    leftOut: ['tools[0].function.strict'],
  },
  {
    name: 'cache control of a tool',
    given: { tools: [{ ...FUNCTION, ...CACHED }] },
    wanted: { tools: [{ ...TOOL, ...CACHED }] },
  },
  {
    name: 'one of two tools is allowed',
    given: {
      tools: [FUNCTION, { type: 'function', function: { name: 'now' } }],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: {
          mode: 'required',
          tools: [{ type: 'function', function: { name: 'get_current_weather' } }],
        },
      },
    },
    wanted: { tools: [TOOL], tool_choice: { type: 'any' } },
    leftOut: ['tools[1]'],
  },
  { name: 'a choice without tools', given: { tool_choice: 'auto', parallel_tool_calls: true }, wanted: {} },
  { name: 'no calls without tools', given: { tools: [], tool_choice: 'none' }, wanted: {} },
  refused('a forced call without tools', { tool_choice: 'required' }, 'tool_choice'),
  {
    name: 'a tool without parameters',
    given: { tools: [{ type: 'function', function: { name: 'now' } }] },
    wanted: { tools: [{ name: 'now', input_schema: { type: 'object', properties: {} } }] },
  },
  {
    name: 'parameters without a type',
    given: { tools: [{ type: 'function', function: { name: 'now', parameters: { properties: {} } } }] },
    wanted: { tools: [{ name: 'now', input_schema: { type: 'object', properties: {} } }] },
  },
  refused(
    'parameters that are not an object',
    { tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'string' } } }] },
    'tools[0].function.parameters.type',
  ),
  refused('a custom tool', { tools: [{ type: 'custom', custom: { name: 'sql' } }] }, 'tools[0].custom'),
  {
    name: 'the model decides',
    given: withTools({ tool_choice: 'auto' }),
    wanted: { tools: [TOOL], tool_choice: { type: 'auto' } },
  },
  {
    name: 'any tool',
    given: withTools({ tool_choice: 'required' }),
    wanted: { tools: [TOOL], tool_choice: { type: 'any' } },
  },
  {
    name: 'one certain tool, once',
    given: withTools({
      tool_choice: { type: 'function', function: { name: 'get_current_weather' } },
      parallel_tool_calls: false,
    }),
    wanted: {
      tools: [TOOL],
      tool_choice: { type: 'tool', name: 'get_current_weather', disable_parallel_tool_use: true },
    },
  },
  {
    name: 'parallel calls without a choice',
    given: withTools({ parallel_tool_calls: true }),
    wanted: { tools: [TOOL], tool_choice: { type: 'auto', disable_parallel_tool_use: false } },
  },
  {
    name: 'no tool, and nothing to do in parallel',
    given: withTools({ tool_choice: 'none', parallel_tool_calls: false }),
    wanted: { tools: [TOOL], tool_choice: { type: 'none' } },
    leftOut: ['parallel_tool_calls'],
  },
  refused(
    'an allowed tool that is not a function',
    withTools({
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'custom' }] } },
    }),
    'tool_choice.allowed_tools.tools[0]',
  ),
  {
    name: 'signatures of another provider are left out and named',
    given: {
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          extra_content: { google: { thought_signature: 'a' } },
          reasoning_details: [{ type: 'reasoning.encrypted', data: 'b' }],
          tool_calls: [
            {
              id: 'c',
              type: 'function',
              function: { name: 'f', arguments: '{}' },
              extra_content: { google: { thought_signature: 'c' } },
              provider_specific_fields: { thought_signature: 'd' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'c', content: '1' },
      ],
    },
    wanted: {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: '1' }] },
      ],
    },
    leftOut: [
      'messages[1].extra_content',
      'messages[1].reasoning_details',
      'messages[1].tool_calls[0].extra_content',
      'messages[1].tool_calls[0].provider_specific_fields',
    ],
  },
  refused('functions of the older kind', { functions: [{ name: 'f' }] }, 'functions'),
];
