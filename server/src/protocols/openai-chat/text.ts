import { listOf, objectOf } from '../../kit/json-value.ts';
import type { TextRules } from '../protocol.ts';
import { requestText, TextCollector } from '../text-collector.ts';

/** Members of an answer that describe it and hold none of its text. */
const KEPT_MEMBERS = ['id', 'object', 'created', 'model', 'service_tier', 'system_fingerprint', 'usage'];

export const chatText: TextRules = {
  ofRequest: (body) => requestText(body, 'messages'),

  ofAnswer(body) {
    const collector = new TextCollector();
    for (const choice of listOf(objectOf(body)['choices'])) {
      collector.add('assistant', objectOf(choice)['message']);
      collector.add('assistant', objectOf(choice)['text']);
    }
    return collector.inspected();
  },

  replace(given, replacement) {
    const answer = objectOf(given);
    const kept = KEPT_MEMBERS.filter((name) => Object.hasOwn(answer, name)).map((name) => [
      name,
      answer[name],
    ]);
    return {
      ...Object.fromEntries(kept),
      choices: listOf(answer['choices']).map((choice, index) => ({
        index: objectOf(choice)['index'] ?? index,
        message: { role: 'assistant', content: replacement, refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      })),
    };
  },
};
