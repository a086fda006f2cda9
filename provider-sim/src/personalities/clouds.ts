import {
  CREATED_S,
  contentOf,
  finishOf,
  halves,
  indexedCalls,
  openaiCalls,
  type Personality,
  sse,
  type Turn,
  USAGE,
} from './personality.ts';

// Providers whose difference from OpenAI is small, and enough.

const FILTERED = { hate: { filtered: false, severity: 'safe' } };

/** Azure: the first chunk has no choice, no id and no model; results of its filter stand beside everything. */
export const azure: Personality = {
  callIds: (step) => [`call_az${step}a`, `call_az${step}b`],
  whole: (turn) => ({
    ...envelope(turn, 'chat.completion'),
    choices: [
      {
        content_filter_results: FILTERED,
        finish_reason: finishOf(turn),
        index: 0,
        logprobs: null,
        message: { ...messageOf(turn), annotations: [], refusal: null },
      },
    ],
    prompt_filter_results: [{ prompt_index: 0, content_filter_results: FILTERED }],
    usage: USAGE,
  }),
  frames: (turn) => [
    sse({
      ...envelope(turn, ''),
      id: '',
      model: '',
      created: 0,
      choices: [],
      prompt_filter_results: [{ prompt_index: 0, content_filter_results: FILTERED }],
    }),
    sse(chunkOf(turn, { role: 'assistant', content: '', refusal: null }, null)),
    ...contentOf(turn).map((content) => sse(chunkOf(turn, { content }, null))),
    ...callDeltas(turn).map((delta) => sse(chunkOf(turn, delta, null))),
    sse(chunkOf(turn, {}, finishOf(turn))),
    sse({ ...chunkOf(turn, {}, null), choices: [], usage: USAGE }),
    sse('[DONE]'),
  ],
  error: (status, message) => ({
    error: {
      message,
      type: null,
      param: 'prompt',
      code: 'content_filter',
      status,
      innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: FILTERED },
    },
  }),
};

/** Mistral: thinking and text are parts of the content; faults of a request stand in a list within the message. */
export const mistral: Personality = {
  callIds: (step) => [`m1str${step}aBc`.slice(0, 9), `m2str${step}aBc`.slice(0, 9)],
  whole: (turn) => ({
    ...envelope(turn, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: partsOf(turn), tool_calls: openaiCalls(turn.calls) },
        finish_reason: finishOf(turn),
      },
    ],
    usage: { ...USAGE, num_cached_tokens: 0 },
  }),
  frames: (turn) => [
    sse(chunkOf(turn, { role: 'assistant', content: '' }, null)),
    ...partsOf(turn).map((part) => sse(chunkOf(turn, { content: [part] }, null))),
    sse({
      ...chunkOf(turn, { content: '', tool_calls: indexedCalls(turn) }, finishOf(turn)),
      usage: USAGE,
    }),
    sse('[DONE]'),
  ],
  error: (_status, message) => ({
    object: 'error',
    message: { detail: [{ type: 'value_error', loc: ['body', 'messages'], msg: message, input: null }] },
    type: 'invalid_request_error',
    param: null,
    code: null,
    raw_status_code: 422,
  }),
};

/** Groq: usage beside the last choice, under a name of its own; a call that the model wrote wrongly is an error. */
export const groq: Personality = {
  callIds: (step) => [`fc_${step}a`, `fc_${step}b`],
  whole: (turn) => ({
    ...envelope(turn, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: { ...messageOf(turn), reasoning: turn.thought },
        logprobs: null,
        finish_reason: finishOf(turn),
      },
    ],
    usage: { queue_time: 0.1, ...USAGE, total_time: 0.2 },
    usage_breakdown: null,
    x_groq: { id: 'req_sim' },
    service_tier: 'on_demand',
  }),
  frames: (turn) => [
    sse({ ...chunkOf(turn, { role: 'assistant', content: '' }, null), x_groq: { id: 'req_sim' } }),
    ...halves(turn.thought).map((reasoning) => sse(chunkOf(turn, { reasoning, channel: 'analysis' }, null))),
    ...contentOf(turn).map((content) => sse(chunkOf(turn, { content }, null))),
    ...callDeltas(turn).map((delta) => sse(chunkOf(turn, delta, null))),
    sse({ ...chunkOf(turn, {}, finishOf(turn)), x_groq: { id: 'req_sim', usage: USAGE } }),
    sse({ ...chunkOf(turn, {}, null), choices: [], usage: USAGE }),
    sse('[DONE]'),
  ],
  error: (_status, message) => ({
    error: {
      message,
      type: 'invalid_request_error',
      code: 'tool_use_failed',
      failed_generation: '<function=look>{',
    },
  }),
};

function envelope({ step, model }: Turn, object: string) {
  return { id: `chatcmpl-${step}`, object, created: CREATED_S, model, system_fingerprint: 'fp_sim' };
}

function chunkOf(turn: Turn, delta: object, reason: string | null) {
  return {
    ...envelope(turn, 'chat.completion.chunk'),
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason, content_filter_results: {} }],
  };
}

function messageOf(turn: Turn) {
  const calls = turn.calls.length > 0 ? { tool_calls: openaiCalls(turn.calls) } : {};
  return { role: 'assistant', content: turn.text === '' ? null : turn.text, ...calls };
}

function callDeltas(turn: Turn): readonly object[] {
  return turn.calls.flatMap(({ id, name, arguments: json }, index) => [
    { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
    ...[json.slice(0, 3), json.slice(3)].map((piece) => ({
      tool_calls: [{ index, function: { arguments: piece } }],
    })),
  ]);
}

function partsOf({ thought, text }: Turn): readonly object[] {
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: thought }], closed: true };
  return text === '' ? [thinking] : [thinking, { type: 'text', text }];
}
