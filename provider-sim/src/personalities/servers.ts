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

// Servers that people run in front of their own models.

/** vLLM: members of its own beside the message, usage in a chunk of its own, errors without an object around them. */
export const vllm: Personality = {
  callIds: (step) => [`chatcmpl-tool-${step}a`, `chatcmpl-tool-${step}b`],
  whole: (turn) => ({
    id: `chatcmpl-${turn.step}`,
    object: 'chat.completion',
    created: CREATED_S,
    model: turn.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: turn.text === '' ? null : turn.text,
          refusal: null,
          annotations: null,
          audio: null,
          function_call: null,
          tool_calls: openaiCalls(turn.calls),
          reasoning: turn.thought,
        },
        logprobs: null,
        finish_reason: finishOf(turn),
        stop_reason: null,
        token_ids: null,
      },
    ],
    service_tier: null,
    usage: { ...USAGE, prompt_tokens_details: null },
    prompt_logprobs: null,
    kv_transfer_params: null,
  }),
  frames: (turn) => [
    sse({ ...chunkOf(turn, { role: 'assistant', content: '' }, null), prompt_token_ids: null }),
    ...halves(turn.thought).map((reasoning) => sse(chunkOf(turn, { reasoning }, null))),
    ...contentOf(turn).map((content) => sse(chunkOf(turn, { content }, null))),
    ...turn.calls.flatMap(({ id, name, arguments: json }, index) => [
      sse(chunkOf(turn, { tool_calls: [{ id, type: 'function', index, function: { name } }] }, null)),
      sse(chunkOf(turn, { tool_calls: [{ index, function: { arguments: json } }] }, null)),
    ]),
    sse(chunkOf(turn, { content: '' }, finishOf(turn))),
    sse({ ...chunkOf(turn, {}, null), choices: [], usage: USAGE }),
    sse('[DONE]'),
  ],
  error: (status, message) => ({
    object: 'error',
    message,
    type: 'BadRequestError',
    param: null,
    code: status,
  }),
};

/** TGI: older versions end a stream without `[DONE]`, name calls by number and give their input as an object. */
export const tgi: Personality = {
  callIds: () => ['0', '1'],
  whole: (turn) => ({
    object: 'chat.completion',
    id: '',
    created: CREATED_S,
    model: turn.model,
    system_fingerprint: '3.0.1-sha',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          ...(turn.calls.length > 0 ? { tool_calls: tgiCalls(turn) } : { content: turn.text }),
        },
        logprobs: null,
        finish_reason: turn.calls.length > 0 ? 'stop' : 'eos_token',
      },
    ],
    usage: USAGE,
  }),
  frames: (turn) => [
    ...contentOf(turn).map((content) => sse(chunkOf(turn, { role: 'assistant', content }, null), '')),
    ...tgiCalls(turn).map((call, index) =>
      sse(chunkOf(turn, { role: 'assistant', tool_calls: [{ ...call, index }] }, null), ''),
    ),
    sse({ ...chunkOf(turn, { role: 'assistant', content: '' }, 'eos_token'), usage: null }, ''),
  ],
  error: (_status, message) => ({ error: message, error_type: 'validation' }),
};

/** llama.cpp: timings in its last chunk, types of errors of its own. */
export const llamacpp: Personality = {
  callIds: (step) => [`llama${step}a`, `llama${step}b`],
  whole: (turn) => ({
    choices: [
      {
        finish_reason: finishOf(turn),
        index: 0,
        message: {
          role: 'assistant',
          reasoning_content: turn.thought,
          content: turn.text,
          ...(turn.calls.length > 0 ? { tool_calls: openaiCalls(turn.calls) } : {}),
        },
      },
    ],
    created: CREATED_S,
    model: turn.model,
    system_fingerprint: 'b7000',
    object: 'chat.completion',
    usage: USAGE,
    id: `chatcmpl-${turn.step}`,
    timings: { prompt_n: 40, predicted_n: 12 },
  }),
  frames: (turn) => [
    sse(chunkOf(turn, { role: 'assistant', content: null }, null)),
    ...halves(turn.thought).map((reasoning_content) => sse(chunkOf(turn, { reasoning_content }, null))),
    ...contentOf(turn).map((content) => sse(chunkOf(turn, { content }, null))),
    ...indexedCalls(turn).map((call) => sse(chunkOf(turn, { tool_calls: [call] }, null))),
    sse(chunkOf(turn, {}, finishOf(turn))),
    sse({ ...chunkOf(turn, {}, null), choices: [], usage: USAGE, timings: { prompt_n: 40 } }),
    sse('[DONE]'),
  ],
  error: (status, message) => ({ error: { code: status, message, type: 'exceed_context_size_error' } }),
};

function chunkOf({ step, model }: Turn, delta: object, reason: string | null) {
  return {
    id: `chatcmpl-${step}`,
    object: 'chat.completion.chunk',
    created: CREATED_S,
    model,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
  };
}

function tgiCalls({ calls }: Turn) {
  return calls.map(({ name, arguments: json }, index) => ({
    id: index,
    type: 'function',
    function: { description: null, name, arguments: JSON.parse(json) as unknown },
  }));
}
