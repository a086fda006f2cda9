import { both, leftOut, type RequestCase, refused } from './request-case.fixture.ts';

const person = {
  type: 'object',
  properties: { name: { type: 'string' } },
  required: ['name'],
  additionalProperties: false,
};
const format = { type: 'json_schema', name: 'person', schema: person, strict: true };
const stream = { stream: true, stream_options: { include_usage: true } };

/** Fields that are not about the input or tools. */
export const settingsCases: readonly RequestCase[] = [
  { name: 'input as text', request: {}, ...both({ says: {} }) },
  {
    name: 'an output limit',
    request: { max_output_tokens: 99 },
    chat: { says: { max_completion_tokens: 99 } },
    messages: { says: { max_tokens: 99 } },
  },
  {
    name: 'temperature and top_p',
    request: { temperature: 0.3, top_p: 0.9 },
    ...both({ says: { temperature: 0.3, top_p: 0.9 } }),
  },
  {
    name: 'a temperature that Messages do not have',
    request: { temperature: 1.2 },
    chat: { says: { temperature: 1.2 } },
    messages: { refused: 'temperature' },
  },
  {
    name: 'streaming',
    request: { stream: true },
    chat: { says: stream },
    messages: { says: { stream: true } },
  },
  { name: 'no streaming', request: { stream: false }, ...both({ says: {} }) },
  {
    name: 'obfuscation of streams',
    request: { stream: true, stream_options: { include_obfuscation: true } },
    chat: { says: stream, leftOut: ['stream_options.include_obfuscation'] },
    messages: { says: { stream: true }, leftOut: ['stream_options.include_obfuscation'] },
  },
  {
    name: 'effort of reasoning',
    request: { reasoning: { effort: 'high' } },
    chat: { says: { reasoning_effort: 'high' } },
    messages: { says: { output_config: { effort: 'high' } } },
  },
  {
    name: 'no reasoning',
    request: { reasoning: { effort: 'none' } },
    chat: { says: { reasoning_effort: 'none' } },
    messages: { says: { thinking: { type: 'disabled' } } },
  },
  {
    name: 'an effort that Messages do not have',
    request: { reasoning: { effort: 'minimal' } },
    chat: { says: { reasoning_effort: 'minimal' } },
    messages: {
      says: { output_config: { effort: 'low' } },
      leftOut: ['reasoning.effort (minimal sent as low)'],
    },
  },
  {
    name: 'a summary with an effort',
    request: { reasoning: { effort: 'low', summary: 'auto' } },
    chat: { says: { reasoning_effort: 'low' }, leftOut: ['reasoning.summary'] },
    messages: {
      says: {
        thinking: { type: 'adaptive', display: 'summarized' },
        output_config: { effort: 'low' },
      },
    },
  },
  {
    name: 'a summary of a certain length',
    request: { reasoning: { effort: 'low', summary: 'detailed' } },
    chat: { says: { reasoning_effort: 'low' }, leftOut: ['reasoning.summary'] },
    messages: {
      says: {
        thinking: { type: 'adaptive', display: 'summarized' },
        output_config: { effort: 'low' },
      },
      leftOut: ['reasoning.summary'],
    },
  },
  {
    name: 'a summary beside a temperature, with which Messages do not think',
    request: { temperature: 0.5, reasoning: { effort: 'low', summary: 'auto' } },
    chat: { says: { temperature: 0.5, reasoning_effort: 'low' }, leftOut: ['reasoning.summary'] },
    messages: {
      says: { temperature: 0.5, output_config: { effort: 'low' } },
      leftOut: ['reasoning.summary'],
    },
  },
  {
    name: 'a summary alone, as agents ask for it',
    request: { reasoning: { summary: 'auto' } },
    ...leftOut('reasoning.summary'),
  },
  {
    name: 'the older name of the summary, and the context of reasoning',
    request: { reasoning: { generate_summary: 'auto', context: 'all_turns' } },
    ...leftOut('reasoning.generate_summary', 'reasoning.context'),
  },
  {
    name: 'the usual mode of reasoning',
    request: { reasoning: { mode: 'standard' } },
    ...both({ says: {} }),
  },
  {
    name: 'another mode of reasoning',
    request: { reasoning: { mode: 'pro' } },
    ...refused('reasoning.mode'),
  },
  {
    name: 'an unknown setting of reasoning',
    request: { reasoning: { budget: 1 } },
    ...refused('reasoning.budget'),
  },
  {
    name: 'verbosity',
    request: { text: { verbosity: 'low' } },
    chat: { says: { verbosity: 'low' } },
    messages: { says: {}, leftOut: ['text.verbosity'] },
  },
  {
    name: 'the usual verbosity',
    request: { text: { verbosity: 'medium' } },
    chat: { says: { verbosity: 'medium' } },
    messages: { says: {} },
  },
  { name: 'plain text', request: { text: { format: { type: 'text' } } }, ...both({ says: {} }) },
  {
    name: 'a schema for the text',
    request: { text: { format } },
    chat: {
      says: {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'person', schema: person, strict: true },
        },
      },
    },
    messages: {
      says: { output_config: { format: { type: 'json_schema', schema: person } } },
      leftOut: ['text.format.name'],
    },
  },
  {
    name: 'a schema that need not be kept to, with a description and an effort',
    request: {
      reasoning: { effort: 'max' },
      text: { format: { ...format, strict: false, description: 'A person.' } },
    },
    chat: {
      says: {
        reasoning_effort: 'max',
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'person', schema: person, strict: false, description: 'A person.' },
        },
      },
    },
    messages: {
      says: {
        output_config: {
          effort: 'max',
          format: { type: 'json_schema', schema: { ...person, description: 'A person.' } },
        },
      },
      leftOut: ['text.format.name'],
    },
  },
  {
    name: 'a schema with two descriptions',
    request: { text: { format: { ...format, schema: { ...person, description: 'P' }, description: 'Q' } } },
    chat: {
      says: {
        response_format: {
          type: 'json_schema',
          json_schema: {
            name: 'person',
            schema: { ...person, description: 'P' },
            strict: true,
            description: 'Q',
          },
        },
      },
    },
    messages: { refused: 'text.format.description' },
  },
  {
    name: 'any JSON',
    request: { text: { format: { type: 'json_object' } } },
    chat: { says: { response_format: { type: 'json_object' } } },
    messages: { refused: 'text.format.type' },
  },
  {
    name: 'an unknown format',
    request: { text: { format: { type: 'yaml' } } },
    ...refused('text.format.type'),
  },
  { name: 'an unknown setting of text', request: { text: { tone: 'dry' } }, ...refused('text.tone') },
  { name: 'nothing stored', request: { store: false }, ...both({ says: {} }) },
  { name: 'storing without a reference', request: { store: true }, ...leftOut('store') },
  {
    name: 'what a previous response said',
    request: { previous_response_id: 'resp_1' },
    ...refused('previous_response_id'),
  },
  { name: 'a stored conversation', request: { conversation: 'conv_1' }, ...refused('conversation') },
  { name: 'work in the background', request: { background: true }, ...refused('background') },
  { name: 'work in the foreground', request: { background: false }, ...both({ says: {} }) },
  { name: 'a prompt template', request: { prompt: { id: 'pmpt_1' } }, ...refused('prompt') },
  { name: 'input cut to fit', request: { truncation: 'auto' }, ...refused('truncation') },
  { name: 'input as it is', request: { truncation: 'disabled' }, ...both({ says: {} }) },
  {
    name: 'compaction of the input',
    request: { context_management: [{ type: 'compaction' }] },
    ...refused('context_management'),
  },
  { name: 'moderation', request: { moderation: { model: 'omni' } }, ...refused('moderation') },
  {
    name: 'probabilities',
    request: { top_logprobs: 3 },
    chat: { says: { logprobs: true, top_logprobs: 3 } },
    messages: { refused: 'top_logprobs' },
  },
  { name: 'no probabilities', request: { top_logprobs: 0 }, ...both({ says: {} }) },
  {
    name: 'probabilities by inclusion',
    request: { include: ['message.output_text.logprobs'], top_logprobs: 0 },
    chat: { says: { logprobs: true, top_logprobs: 0 } },
    messages: { refused: 'include[0]' },
  },
  {
    name: 'encrypted reasoning, which Messages have as signatures',
    request: { include: ['reasoning.encrypted_content'] },
    chat: { says: {}, leftOut: ['include[0]'] },
    messages: { says: {} },
  },
  {
    name: 'inclusions without effect',
    request: { include: ['file_search_call.results', 'message.input_image.image_url'] },
    ...leftOut('include[0]', 'include[1]'),
  },
  { name: 'an unknown inclusion', request: { include: ['secrets'] }, ...refused('include[0]') },
  { name: 'metadata', request: { metadata: { team: 'a' } }, ...leftOut('metadata') },
  { name: 'no metadata', request: { metadata: {} }, ...both({ says: {} }) },
  {
    name: 'what agents add for their own sake',
    request: {
      client_metadata: { session_id: 's' },
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      prompt_cache_options: { mode: 'explicit' },
      safety_identifier: 'u',
      user: 'u',
      max_tool_calls: 3,
    },
    chat: {
      says: {
        prompt_cache_key: 'k',
        prompt_cache_retention: '24h',
        prompt_cache_options: { mode: 'explicit' },
        safety_identifier: 'u',
        user: 'u',
      },
      leftOut: ['client_metadata', 'max_tool_calls'],
    },
    messages: {
      says: {},
      leftOut: [
        'client_metadata',
        'prompt_cache_key',
        'prompt_cache_retention',
        'prompt_cache_options',
        'safety_identifier',
        'user',
        'max_tool_calls',
      ],
    },
  },
  {
    name: 'a service tier',
    request: { service_tier: 'priority' },
    chat: { says: { service_tier: 'priority' } },
    messages: { says: {}, leftOut: ['service_tier'] },
  },
  {
    name: 'the usual service tier',
    request: { service_tier: 'auto' },
    ...both({ says: { service_tier: 'auto' } }),
  },
  { name: 'a field that is not known', request: { seed: 7 }, ...refused('seed') },
  {
    name: 'null, which says nothing anywhere',
    request: {
      instructions: null,
      max_output_tokens: null,
      temperature: null,
      reasoning: null,
      conversation: null,
      tools: null,
      seed: null,
    },
    ...both({ says: {} }),
  },
];
