import type { JsonObject } from '../../../kit/json-value.ts';
import type { RequestCase } from '../messages-to-chat/request-cases.fixture.ts';
import { refused } from './request-cases.fixture.ts';

const SCHEMA = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
};

function format(jsonSchema: JsonObject): JsonObject {
  return { response_format: { type: 'json_schema', json_schema: jsonSchema } };
}

const output: readonly RequestCase[] = [
  { name: 'a limit under the older name', given: { max_tokens: 5 }, wanted: { max_tokens: 5 } },
  { name: 'a limit under the newer name', given: { max_completion_tokens: 6 }, wanted: { max_tokens: 6 } },
  {
    name: 'of two limits the newer name counts',
    given: { max_completion_tokens: 6, max_tokens: 5 },
    wanted: { max_tokens: 6 },
    leftOut: ['max_tokens'],
  },
  refused('a limit of nothing', { max_tokens: 0 }, 'max_tokens'),
  { name: 'no limit: the default', given: {}, wanted: { max_tokens: 32_000 } },
  {
    name: 'no limit: what the endpoint says',
    given: {},
    wanted: { max_tokens: 8192 },
    options: { maxOutputTokens: 8192 },
  },
  {
    name: 'a schema for the response',
    given: format({ name: 'reply', schema: SCHEMA, strict: true }),
    wanted: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
    leftOut: ['response_format.json_schema.name'],
  },
  {
    name: 'a schema with a description',
    given: format({ name: 'reply', description: 'A reply.', schema: SCHEMA }),
    wanted: {
      output_config: { format: { type: 'json_schema', schema: { ...SCHEMA, description: 'A reply.' } } },
    },
    leftOut: ['response_format.json_schema.name'],
  },
  refused(
    'a schema with two descriptions',
    format({ name: 'reply', description: 'A reply.', schema: { ...SCHEMA, description: 'x' } }),
    'response_format.json_schema.description',
  ),
  { name: 'text as the format', given: { response_format: { type: 'text' } }, wanted: {} },
  refused('any JSON as the format', { response_format: { type: 'json_object' } }, 'response_format.type'),
  { name: 'no reasoning', given: { reasoning_effort: 'none' }, wanted: { thinking: { type: 'disabled' } } },
  ...(['low', 'medium', 'high', 'xhigh', 'max'] as const).map((effort) => ({
    name: `reasoning effort ${effort}`,
    given: { reasoning_effort: effort },
    wanted: { output_config: { effort } },
  })),
  {
    name: 'minimal reasoning, of which Messages have no less than low',
    given: { reasoning_effort: 'minimal' },
    wanted: { output_config: { effort: 'low' } },
    leftOut: ['reasoning_effort (minimal sent as low)'],
  },
];

const settings: readonly RequestCase[] = [
  {
    name: 'sampling',
    given: { temperature: 0.2, top_p: 0.9 },
    wanted: { temperature: 0.2, top_p: 0.9 },
  },
  { name: 'the highest temperature', given: { temperature: 1 }, wanted: { temperature: 1 } },
  refused('a higher temperature', { temperature: 1.2 }, 'temperature'),
  { name: 'one stop sequence', given: { stop: 'END' }, wanted: { stop_sequences: ['END'] } },
  { name: 'stop sequences', given: { stop: ['END', '\n#'] }, wanted: { stop_sequences: ['END', '\n#'] } },
  refused('a stop sequence of space', { stop: ['\n\n'] }, 'stop'),
  {
    name: 'a stream with usage',
    given: { stream: true, stream_options: { include_usage: true, include_obfuscation: false } },
    wanted: { stream: true },
  },
  {
    name: 'a stream with obfuscation',
    given: { stream: true, stream_options: { include_obfuscation: true } },
    wanted: { stream: true },
    leftOut: ['stream_options.include_obfuscation'],
  },
  { name: 'no stream', given: { stream: false }, wanted: {} },
  { name: 'the default tier', given: { service_tier: 'default' }, wanted: { service_tier: 'standard_only' } },
  { name: 'any tier', given: { service_tier: 'auto' }, wanted: { service_tier: 'auto' } },
  { name: 'the slow tier', given: { service_tier: 'flex' }, wanted: {}, leftOut: ['service_tier'] },
  {
    name: 'advisory fields of the request',
    given: {
      metadata: { a: 'b' },
      user: 'u',
      safety_identifier: 's',
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      prompt_cache_options: { mode: 'explicit' },
      prediction: { type: 'content', content: 'x' },
      seed: 7,
      store: true,
      verbosity: 'low',
    },
    wanted: {},
    leftOut: [
      'metadata',
      'user',
      'safety_identifier',
      'prompt_cache_key',
      'prompt_cache_retention',
      'prompt_cache_options',
      'prediction',
      'seed',
      'store',
      'verbosity',
    ],
  },
  {
    name: 'values that are the defaults',
    given: {
      n: 1,
      logprobs: false,
      top_logprobs: 0,
      logit_bias: {},
      frequency_penalty: 0,
      presence_penalty: 0,
      store: false,
      modalities: ['text'],
      verbosity: 'medium',
      functions: [],
    },
    wanted: {},
  },
  {
    name: 'values that are null',
    given: { temperature: null, stop: null, stream: null, seed: null, logit_bias: null, max_tokens: null },
    wanted: {},
  },
  ...Object.entries({
    n: 2,
    logprobs: true,
    top_logprobs: 3,
    logit_bias: { 50256: -100 },
    frequency_penalty: 0.5,
    presence_penalty: -0.5,
    modalities: ['text', 'audio'],
    audio: { voice: 'alloy', format: 'wav' },
    moderation: {},
    web_search_options: {},
    function_call: 'auto',
    vibe: 'calm',
  }).map(([field, value]) => refused(`${field} is essential`, { [field]: value }, field)),
];

export const settingCases: readonly RequestCase[] = [...output, ...settings];
