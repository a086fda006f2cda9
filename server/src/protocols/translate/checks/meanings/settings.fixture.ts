import { everywhere, type MeaningCase } from './meaning-case.fixture.ts';

/** A setting with one name in chat completions and in Responses. */
function openai(name: string, value: unknown): MeaningCase['from'] {
  const given = { says: { [name]: value }, path: name };
  return { chat: given, responses: given };
}

/** A setting of all three. */
function every(name: string, value: unknown): MeaningCase['from'] {
  return { ...openai(name, value), messages: { says: { [name]: value }, path: name } };
}

export const settings: readonly MeaningCase[] = [
  { meaning: 'an answer that is kept', from: openai('store', true), to: everywhere('named') },
  { meaning: 'an answer that is not kept', from: openai('store', false), to: everywhere({}) },
  ...['low', 'high'].map((value) => ({
    meaning: `${value} verbosity`,
    from: {
      chat: { says: { verbosity: value }, path: 'verbosity' },
      responses: { says: { text: { verbosity: value } }, path: 'text.verbosity' },
    },
    to: { messages: 'named', chat: { verbosity: value } } as const,
  })),
  {
    meaning: 'the usual verbosity',
    from: {
      chat: { says: { verbosity: 'medium' } },
      responses: { says: { text: { verbosity: 'medium' } } },
    },
    to: { messages: {}, chat: { verbosity: 'medium' } },
  },
  { meaning: 'any tier', from: every('service_tier', 'auto'), to: everywhere({ service_tier: 'auto' }) },
  {
    meaning: 'the standard tier',
    from: {
      ...openai('service_tier', 'default'),
      messages: { says: { service_tier: 'standard_only' } },
    },
    to: { messages: { service_tier: 'standard_only' }, chat: { service_tier: 'default' } },
  },
  ...['flex', 'priority', 'scale'].map((tier) => ({
    meaning: `the tier ${tier}`,
    from: openai('service_tier', tier),
    to: { messages: 'named', chat: { service_tier: tier } } as const,
  })),
  { meaning: 'an unknown tier', from: every('service_tier', 'golden'), to: everywhere('named') },
  { meaning: 'metadata', from: every('metadata', { user_id: 'u' }), to: everywhere('named') },
  { meaning: 'no metadata', from: every('metadata', {}), to: everywhere({}) },
  ...['user', 'safety_identifier', 'prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options'].map(
    (name) => ({
      meaning: name,
      from: openai(name, 'x'),
      to: { messages: 'named', chat: { [name]: 'x' } } as const,
    }),
  ),
  { meaning: 'moderation', from: openai('moderation', {}), to: everywhere('refused') },
  {
    meaning: 'probabilities',
    from: openai('top_logprobs', 3),
    to: { messages: 'refused', chat: { logprobs: true, top_logprobs: 3 } },
  },
  { meaning: 'no probabilities', from: openai('top_logprobs', 0), to: everywhere({}) },
  {
    meaning: 'obfuscation of streams',
    from: {
      chat: {
        says: { stream_options: { include_obfuscation: true } },
        path: 'stream_options.include_obfuscation',
      },
      responses: {
        says: { stream_options: { include_obfuscation: true } },
        path: 'stream_options.include_obfuscation',
      },
    },
    to: everywhere('named'),
  },
  { meaning: 'temperature', from: every('temperature', 0.3), to: everywhere({ temperature: 0.3 }) },
  {
    meaning: 'a temperature over 1',
    from: openai('temperature', 1.5),
    to: { messages: 'refused', chat: { temperature: 1.5 } },
  },
  { meaning: 'top_p', from: every('top_p', 0.3), to: everywhere({ top_p: 0.3 }) },
  {
    meaning: 'a stream',
    from: every('stream', true),
    to: { messages: { stream: true }, chat: { stream: true, stream_options: { include_usage: true } } },
  },
  { meaning: 'an unknown field', from: every('unheard_of', 1), to: everywhere('refused') },
  ...['low', 'medium', 'high', 'xhigh', 'max'].map((effort) => ({
    meaning: `${effort} effort`,
    from: efforts(effort),
    to: { messages: { output_config: { effort } }, chat: { reasoning_effort: effort } },
  })),
  {
    meaning: 'an unknown effort',
    from: { chat: efforts('utmost').chat, responses: efforts('utmost').responses },
    to: { messages: 'refused' },
  },
  {
    meaning: 'no thinking',
    from: {
      chat: { says: { reasoning_effort: 'none' } },
      responses: { says: { reasoning: { effort: 'none' } } },
      messages: { says: { thinking: { type: 'disabled' } } },
    },
    to: { messages: { thinking: { type: 'disabled' } }, chat: { reasoning_effort: 'none' } },
  },
];

function efforts(effort: string) {
  return {
    chat: { says: { reasoning_effort: effort }, path: 'reasoning_effort' },
    responses: { says: { reasoning: { effort } }, path: 'reasoning.effort' },
    messages: { says: { output_config: { effort } }, path: 'output_config.effort' },
  };
}
