import type { Operation } from '../routing/operation.ts';

/**
 * The answer with the replacement in the place of everything that was said: each choice or message says it, and nothing else is
 * left of them. What could carry the words another way (tool calls, reasoning, probabilities of tokens) is gone.
 */
export function replaceText(operation: Operation, answer: unknown, replacement: string): unknown {
  const given = recordOf(answer);
  return operation === 'chat' ? replaceChoices(given, replacement) : replaceOutput(given, replacement);
}

/** What a chat answer says of itself beside its choices. */
const CHAT_MEMBERS = ['id', 'object', 'created', 'model', 'service_tier', 'system_fingerprint', 'usage'];

/** Of a response, what holds words of the model, or could. */
const SPOKEN_MEMBERS = new Set(['output', 'output_text', 'reasoning_text', 'error', 'incomplete_details']);

function replaceChoices(answer: Record<string, unknown>, replacement: string): unknown {
  const choices = Array.isArray(answer['choices']) ? answer['choices'] : [];
  const kept = CHAT_MEMBERS.filter((name) => Object.hasOwn(answer, name)).map((name) => [name, answer[name]]);
  return {
    ...Object.fromEntries(kept),
    choices: choices.map((choice: unknown, index) => ({
      index: recordOf(choice)['index'] ?? index,
      message: { role: 'assistant', content: replacement, refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    })),
  };
}

function replaceOutput(answer: Record<string, unknown>, replacement: string): unknown {
  const items = Array.isArray(answer['output']) ? answer['output'].map(recordOf) : [];
  const messages = items.filter(({ type }) => type === 'message');
  // An answer of tool calls alone says the replacement as well, in a message that it did not have.
  const spoken: readonly Record<string, unknown>[] =
    messages.length > 0 ? messages : [{ id: 'msg_replaced' }];
  const kept = Object.entries(answer).filter(([name]) => !SPOKEN_MEMBERS.has(name));
  return {
    ...Object.fromEntries(kept),
    error: null,
    incomplete_details: null,
    output: spoken.map(({ id }) => ({
      type: 'message',
      id,
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: replacement, annotations: [] }],
    })),
    ...(Object.hasOwn(answer, 'output_text') ? { output_text: replacement } : {}),
  };
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
