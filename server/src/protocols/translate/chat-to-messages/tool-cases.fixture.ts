import type { JsonObject } from '../../../kit/json-value.ts';
import type { RequestCase } from '../messages-to-chat/request-cases.fixture.ts';
import { refused } from './request-cases.fixture.ts';

const SCHEMA = {
  type: 'object',
  properties: { location: { type: 'string', description: 'City and state' } },
  required: ['location'],
};
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
    given: { tools: [{ ...FUNCTION, function: { ...FUNCTION.function, strict: true } }] },
    wanted: { tools: [{ ...TOOL, strict: true }] },
  },
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
    'allowed tools',
    withTools({ tool_choice: { type: 'allowed_tools', allowed_tools: {} } }),
    'tool_choice.allowed_tools',
  ),
  refused('functions of the older kind', { functions: [{ name: 'f' }] }, 'functions'),
];
