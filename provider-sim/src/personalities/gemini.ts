import {
  CREATED_S,
  openaiCalls,
  type Personality,
  signatureOf,
  sse,
  type Turn,
  USAGE,
} from './personality.ts';

/**
 * Gemini at its OpenAI-compatible address: the first call of a step is signed, and a request that returns it without its signature is
 * rejected; whole calls without an index; `stop` after calls; errors in a list.
 * https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export const gemini: Personality = {
  callIds: (step) => [`function-call-${step}01`, `function-call-${step}02`],
  whole: (turn) => ({
    choices: [
      {
        finish_reason: 'stop',
        index: 0,
        message:
          turn.calls.length > 0
            ? { role: 'assistant', tool_calls: signedCalls(turn) }
            : { content: turn.text, extra_content: signature(turn.step), role: 'assistant' },
      },
    ],
    created: CREATED_S,
    id: `gem${turn.step}`,
    model: turn.model,
    object: 'chat.completion',
    usage: USAGE,
  }),
  frames(turn) {
    const deltas =
      turn.calls.length > 0
        ? signedCalls(turn).map((call) => ({ role: 'assistant', tool_calls: [call] }))
        : [
            { content: turn.text, role: 'assistant' },
            { extra_content: signature(turn.step), role: 'assistant' },
          ];
    const chunks = deltas.map((delta, index) => ({
      choices: [{ delta, index: 0, ...(index === deltas.length - 1 ? { finish_reason: 'stop' } : {}) }],
      created: CREATED_S,
      id: `gem${turn.step}`,
      model: turn.model,
      object: 'chat.completion.chunk',
      usage: USAGE,
    }));
    return [...chunks.map((chunk) => sse(chunk)), sse('[DONE]')];
  },
  error: (status, message) => [{ error: { code: status, message, status: 'INVALID_ARGUMENT' } }],
  missing({ calls: [first] }, step) {
    if (JSON.stringify(first?.['extra_content']) === JSON.stringify(signature(step))) return null;
    return `Function call is missing a thought_signature in functionCall parts. Additional data, position ${step}.`;
  },
};

function signature(step: number) {
  return { google: { thought_signature: signatureOf(step) } };
}

/** Gemini signs only the first of parallel calls. */
function signedCalls({ calls, step }: Turn) {
  return openaiCalls(calls).map((call, index) =>
    index === 0 ? { extra_content: signature(step), ...call } : call,
  );
}
