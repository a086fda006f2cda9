import { type JsonObject, listOf, objectOf } from '../../kit/json-value.ts';
import type { TextRules } from '../protocol.ts';
import { requestText, TextCollector } from '../text-collector.ts';

/** Members of an answer that hold text of the model, or could. */
const TEXT_MEMBERS = new Set(['output', 'output_text', 'reasoning_text', 'error', 'incomplete_details']);

export const responsesText: TextRules = {
  ofRequest: (body) => requestText(body, 'input'),

  ofAnswer(body) {
    const collector = new TextCollector();
    collector.addTurns(objectOf(body)['output'], 'assistant');
    return collector.inspected();
  },

  replace(given, replacement) {
    const answer = objectOf(given);
    const messages = listOf(answer['output'])
      .map(objectOf)
      .filter(({ type }) => type === 'message');
    // An answer of tool calls alone gets a message, so that the client sees the replacement.
    const replaced: readonly JsonObject[] = messages.length > 0 ? messages : [{ id: 'msg_replaced' }];
    const kept = Object.entries(answer).filter(([name]) => !TEXT_MEMBERS.has(name));
    return {
      ...Object.fromEntries(kept),
      error: null,
      incomplete_details: null,
      output: replaced.map(({ id }) => ({
        type: 'message',
        id,
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: replacement, annotations: [] }],
      })),
      ...(Object.hasOwn(answer, 'output_text') ? { output_text: replacement } : {}),
    };
  },
};
