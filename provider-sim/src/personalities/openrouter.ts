import {
  CREATED_S,
  finishOf,
  halves,
  indexedCalls,
  openaiCalls,
  type Personality,
  signatureOf,
  sse,
  type Turn,
  thoughtOf,
  USAGE,
} from './personality.ts';

const FORMAT = 'google-gemini-v1';

/**
 * OpenRouter with a model that thinks: comments until it speaks; reasoning in details that arrive in pieces and have to come back in
 * one piece each; usage in a chunk with a choice; what failed behind it stands in `metadata.raw`.
 * https://openrouter.ai/docs/use-cases/reasoning-tokens
 */
export const openrouter: Personality = {
  callIds: (step) => [`tool_0_look_${step}`, `tool_1_look_${step}`],
  whole: (turn) => ({
    ...envelope(turn, 'chat.completion'),
    choices: [
      {
        logprobs: null,
        finish_reason: finishOf(turn),
        native_finish_reason: 'STOP',
        index: 0,
        message: {
          role: 'assistant',
          content: turn.text,
          refusal: null,
          reasoning: turn.thought,
          ...(turn.calls.length > 0 ? { tool_calls: openaiCalls(turn.calls) } : {}),
          reasoning_details: detailsOf(turn.step, turn.thought, turn.calls[0]?.id ?? null),
          annotations: [],
        },
      },
    ],
    usage: { ...USAGE, cost: 0.001, is_byok: false },
  }),
  frames(turn) {
    const deltas: object[] = [
      { role: 'assistant', content: '' },
      ...halves(turn.thought).map((text) => ({
        content: '',
        reasoning: text,
        reasoning_details: [{ type: 'reasoning.text', text, format: FORMAT, index: 0 }],
      })),
      ...halves(turn.text === '' ? ' ' : turn.text).map((content) => ({ content })),
      ...indexedCalls(turn).map((call, index) => ({
        content: null,
        tool_calls: [call],
        ...(index === 0
          ? { reasoning_details: [encryptedDetail(turn.step, turn.calls[0]?.id ?? null)] }
          : {}),
      })),
    ];
    const chunks = deltas.map((delta) => chunkOf(turn, delta, null));
    return [
      ': OPENROUTER PROCESSING\n\n',
      ': OPENROUTER PROCESSING\n\n',
      ...chunks.map((chunk) => sse(chunk)),
      sse(chunkOf(turn, { role: 'assistant', content: '' }, finishOf(turn))),
      sse({ ...chunkOf(turn, { role: 'assistant', content: '' }, null), usage: { ...USAGE, cost: 0.001 } }),
      sse('[DONE]'),
    ];
  },
  error: (status, message) => ({
    error: {
      message: 'Provider returned error',
      code: status,
      metadata: { raw: message, provider_name: 'Google AI Studio' },
    },
    user_id: 'user_sim',
  }),
  missing({ message, calls }, step) {
    const wanted = detailsOf(step, thoughtOf(step), String(calls[0]?.['id']));
    const given = message['reasoning_details'];
    if (JSON.stringify(sorted(given)) === JSON.stringify(sorted(wanted))) return null;
    return 'Gemini models require OpenRouter reasoning details to be preserved in each request.';
  },
};

function envelope({ step, model }: Turn, object: string) {
  return { id: `gen-${step}`, provider: 'Google AI Studio', model, object, created: CREATED_S };
}

function chunkOf(turn: Turn, delta: object, reason: string | null) {
  const choice = { index: 0, delta, finish_reason: reason, native_finish_reason: reason, logprobs: null };
  return { ...envelope(turn, 'chat.completion.chunk'), choices: [choice] };
}

function detailsOf(step: number, text: string, id: string | null) {
  return [{ type: 'reasoning.text', text, format: FORMAT, index: 0 }, encryptedDetail(step, id)];
}

function encryptedDetail(step: number, id: string | null) {
  return { type: 'reasoning.encrypted', data: signatureOf(step), format: FORMAT, id, index: 0 };
}

/** The order of members says nothing. */
function sorted(details: unknown): unknown {
  return Array.isArray(details)
    ? details.map((each: object) => Object.entries(each).sort(([a], [b]) => a.localeCompare(b)))
    : details;
}
