import type { JsonObject } from '../../../kit/json-value.ts';
import { shortName } from '../tool-names.ts';
import { CACHE, FUNCTION, type RequestCase, SCHEMA, TOOL } from './request-cases.fixture.ts';

const STRICT = { ...SCHEMA, additionalProperties: false };
const STRICT_TOOL = { ...TOOL, input_schema: STRICT };
const LONG_NAME = 'x'.repeat(65);

function withTools(more: JsonObject): JsonObject {
  return { tools: [TOOL], ...more };
}

function functionWith(more: JsonObject): JsonObject {
  return { ...FUNCTION, function: { ...FUNCTION.function, ...more } };
}

function refused(name: string, given: JsonObject, field: string): RequestCase {
  return { name, given, wanted: null, field };
}

const tools: readonly RequestCase[] = [
  { name: 'a tool', given: withTools({}), wanted: { tools: [FUNCTION] } },
  {
    name: 'a strict tool with cache control and fine streaming',
    given: {
      tools: [{ ...STRICT_TOOL, type: 'custom', strict: true, eager_input_streaming: true, ...CACHE }],
    },
    wanted: { tools: [functionWith({ parameters: STRICT, strict: true })] },
    leftOut: ['tools[0].eager_input_streaming', 'tools[0].cache_control'],
  },
  {
    name: 'a tool with values that are the defaults',
    given: {
      tools: [
        { ...TOOL, strict: false, defer_loading: false, allowed_callers: ['direct'], input_examples: [] },
      ],
    },
    wanted: { tools: [FUNCTION] },
  },
  { name: 'no tools', given: { tools: [] }, wanted: {} },
  refused('a web search', { tools: [{ type: 'web_search_20260318', name: 'web_search' }] }, 'tools[0].type'),
  {
    name: 'a tool that is loaded later',
    given: { tools: [{ ...TOOL, defer_loading: true }] },
    wanted: { tools: [functionWith({})] },
    leftOut: ['tools[0].defer_loading'],
  },
  refused(
    'a tool with examples',
    { tools: [{ ...TOOL, input_examples: [{ ticker: 'A' }] }] },
    'tools[0].input_examples',
  ),
  {
    name: 'a name of 65 characters is shortened, also where it is chosen',
    given: { tools: [{ ...TOOL, name: LONG_NAME }], tool_choice: { type: 'tool', name: LONG_NAME } },
    wanted: {
      tools: [functionWith({ name: shortName(LONG_NAME) })],
      tool_choice: { type: 'function', function: { name: shortName(LONG_NAME) } },
    },
  },
  {
    name: 'a strict tool with an optional property, which chat completions reject',
    given: { tools: [{ ...TOOL, input_schema: { ...STRICT, required: [] }, strict: true }] },
    wanted: { tools: [functionWith({ parameters: { ...STRICT, required: [] } })] },
    leftOut: ['tools[0].strict'],
  },
  { name: 'a choice without tools', given: { tool_choice: { type: 'auto' } }, wanted: {} },
  { name: 'no calls without tools', given: { tools: [], tool_choice: { type: 'none' } }, wanted: {} },
  refused('a forced call without tools', { tool_choice: { type: 'any' } }, 'tool_choice'),
  {
    name: 'the model decides',
    given: withTools({ tool_choice: { type: 'auto' } }),
    wanted: { tools: [FUNCTION], tool_choice: 'auto' },
  },
  {
    name: 'at most one call',
    given: withTools({ tool_choice: { type: 'auto', disable_parallel_tool_use: true } }),
    wanted: { tools: [FUNCTION], tool_choice: 'auto', parallel_tool_calls: false },
  },
  {
    name: 'any tool, in parallel',
    given: withTools({ tool_choice: { type: 'any', disable_parallel_tool_use: false } }),
    wanted: { tools: [FUNCTION], tool_choice: 'required', parallel_tool_calls: true },
  },
  {
    name: 'one certain tool',
    given: withTools({ tool_choice: { type: 'tool', name: 'get_stock_price' } }),
    wanted: { tools: [FUNCTION], tool_choice: { type: 'function', function: { name: 'get_stock_price' } } },
  },
  {
    name: 'no tool',
    given: withTools({ tool_choice: { type: 'none' } }),
    wanted: { tools: [FUNCTION], tool_choice: 'none' },
  },
  refused('an unknown choice', withTools({ tool_choice: { type: 'best' } }), 'tool_choice.type'),
];

const thinking: readonly RequestCase[] = [
  { name: 'adaptive thinking', given: { thinking: { type: 'adaptive', display: 'omitted' } }, wanted: {} },
  { name: 'no thinking', given: { thinking: { type: 'disabled' } }, wanted: { reasoning_effort: 'none' } },
  ...([1024, 4096, 8000, 16_384, 32_000] as const).map((budget, index) => ({
    name: `thinking of ${budget} tokens`,
    given: { thinking: { type: 'enabled', budget_tokens: budget } },
    wanted: { reasoning_effort: ['low', 'low', 'medium', 'medium', 'high'][index] },
    leftOut: ['thinking.budget_tokens'],
  })),
  ...(['low', 'medium', 'high', 'xhigh', 'max'] as const).map((effort) => ({
    name: `effort ${effort}`,
    given: { thinking: { type: 'adaptive' }, output_config: { effort } },
    wanted: { reasoning_effort: effort },
  })),
  {
    name: 'an effort counts more than a budget',
    given: { thinking: { type: 'enabled', budget_tokens: 32_000 }, output_config: { effort: 'low' } },
    wanted: { reasoning_effort: 'low' },
    leftOut: ['thinking.budget_tokens'],
  },
  {
    name: 'effort without thinking',
    given: { thinking: { type: 'disabled' }, output_config: { effort: 'low' } },
    wanted: { reasoning_effort: 'none' },
    leftOut: ['output_config.effort'],
  },
  {
    name: 'an endpoint without reasoning effort',
    given: { thinking: { type: 'enabled', budget_tokens: 2000 }, output_config: { effort: 'low' } },
    wanted: {},
    leftOut: ['thinking', 'output_config.effort'],
    options: { reasoningEffort: false },
  },
  refused('thinking between tools', { thinking: { type: 'between_tools' } }, 'thinking.type'),
  refused('an unknown effort', { output_config: { effort: 'tiny' } }, 'output_config.effort'),
];

const settings: readonly RequestCase[] = [
  {
    name: 'a schema for the response',
    given: { output_config: { format: { type: 'json_schema', schema: STRICT } } },
    wanted: {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'response', schema: STRICT, strict: true },
      },
    },
  },
  {
    name: 'a schema that chat completions cannot keep to',
    given: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
    wanted: {
      response_format: { type: 'json_schema', json_schema: { name: 'response', schema: SCHEMA } },
    },
    leftOut: ['output_config.format.strict'],
  },
  { name: 'sampling', given: { temperature: 0.2, top_p: 0.9 }, wanted: { temperature: 0.2, top_p: 0.9 } },
  {
    name: 'stop sequences',
    given: { stop_sequences: ['\n\nHuman:', 'END'] },
    wanted: { stop: ['\n\nHuman:', 'END'] },
  },
  { name: 'no stop sequences', given: { stop_sequences: [] }, wanted: {} },
  refused('five stop sequences', { stop_sequences: ['a', 'b', 'c', 'd', 'e'] }, 'stop_sequences'),
  {
    name: 'a stream reports usage',
    given: { stream: true },
    wanted: { stream: true, stream_options: { include_usage: true } },
  },
  { name: 'no stream', given: { stream: false }, wanted: {} },
  {
    name: 'the standard tier',
    given: { service_tier: 'standard_only' },
    wanted: { service_tier: 'default' },
  },
  { name: 'any tier', given: { service_tier: 'auto' }, wanted: { service_tier: 'auto' } },
  {
    name: 'a tier that chat completions do not have',
    given: { service_tier: 'batch' },
    wanted: {},
    leftOut: ['service_tier'],
  },
  {
    name: 'advisory fields of the request',
    given: {
      metadata: { user_id: 'u' },
      cache_control: { type: 'ephemeral' },
      diagnostics: { previous_message_id: null },
    },
    wanted: {},
    leftOut: ['metadata', 'cache_control', 'diagnostics'],
  },
  {
    name: 'thinking that is cleared is not sent in any case',
    given: { context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } },
    wanted: {},
    leftOut: ['context_management.edits[0]'],
  },
  refused(
    'tool results that are cleared',
    { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
    'context_management.edits[0]',
  ),
  {
    name: 'values that are null',
    given: { temperature: null, system: null, container: null, speed: null, tools: null },
    wanted: {},
  },
  { name: 'the usual speed', given: { speed: 'standard' }, wanted: {} },
  refused('a faster model', { speed: 'fast' }, 'speed'),
  refused('top_k', { top_k: 5 }, 'top_k'),
  refused('a container', { container: 'container_1' }, 'container'),
  refused('a region', { inference_geo: 'us' }, 'inference_geo'),
  refused('MCP servers', { mcp_servers: [{ type: 'url', url: 'https://example.com' }] }, 'mcp_servers'),
  refused('an unknown field', { vibe: 'calm' }, 'vibe'),
  refused('a field of the prototype', { constructor: 1 }, 'constructor'),
  refused('no output at all', { max_tokens: 0 }, 'max_tokens'),
];

export const settingCases: readonly RequestCase[] = [...tools, ...thinking, ...settings];
