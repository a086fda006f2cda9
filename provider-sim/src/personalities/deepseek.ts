import {
  CREATED_S,
  contentOf,
  finishOf,
  halves,
  indexedCalls,
  type Personality,
  sse,
  type Turn,
  thoughtOf,
  USAGE,
} from './personality.ts';

/**
 * DeepSeek thinking: `reasoning_content`, which has to come back with the calls that it led to; comments while it is busy; usage in the
 * chunk that ends the choice. https://api-docs.deepseek.com/guides/thinking_mode
 */
export const deepseek: Personality = {
  callIds: (step) => [`call_00_${step}abc`, `call_01_${step}abc`],
  whole: (turn) => ({
    ...envelope(turn, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: turn.text,
          reasoning_content: turn.thought,
          ...(turn.calls.length > 0 ? { tool_calls: indexedCalls(turn) } : {}),
        },
        logprobs: null,
        finish_reason: finishOf(turn),
      },
    ],
    usage: { ...USAGE, prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 32 },
  }),
  frames(turn) {
    const deltas = [
      { role: 'assistant', content: null, reasoning_content: '' },
      ...halves(turn.thought).map((reasoning_content) => ({ content: null, reasoning_content })),
      ...contentOf(turn).map((content) => ({ content, reasoning_content: null })),
      ...indexedCalls(turn).map((call) => ({ tool_calls: [call] })),
    ];
    const last = { content: '', reasoning_content: null };
    return [
      ': keep-alive\n\n',
      ...deltas.map((delta) => sse(chunkOf(turn, delta, null))),
      sse({ ...chunkOf(turn, last, finishOf(turn)), usage: USAGE }),
      sse('[DONE]'),
    ];
  },
  error: (_status, message) => ({
    error: { message, type: 'invalid_request_error', param: null, code: 'invalid_request_error' },
  }),
  missing: ({ message }, step) =>
    message['reasoning_content'] === thoughtOf(step)
      ? null
      : 'The `reasoning_content` in the thinking mode must be passed back to the API.',
};

function envelope({ step, model }: Turn, object: string) {
  return { id: `ds-${step}`, object, created: CREATED_S, model, system_fingerprint: 'fp_sim' };
}

function chunkOf(turn: Turn, delta: object, reason: string | null) {
  return {
    ...envelope(turn, 'chat.completion.chunk'),
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
  };
}
