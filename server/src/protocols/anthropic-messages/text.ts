import { objectOf } from '../../kit/json-value.ts';
import type { TextRules } from '../protocol.ts';
import { requestText, TextCollector } from '../text-collector.ts';

/** Members of an answer that describe it and hold none of its text. */
const KEPT_MEMBERS = ['id', 'type', 'role', 'model', 'usage'];

export const messagesText: TextRules = {
  ofRequest: (body) => requestText(body, 'messages'),

  ofAnswer(body) {
    const collector = new TextCollector();
    collector.add('assistant', objectOf(body)['content']);
    return collector.inspected();
  },

  replace(given, replacement) {
    const answer = objectOf(given);
    const kept = KEPT_MEMBERS.filter((name) => Object.hasOwn(answer, name));
    return {
      ...Object.fromEntries(kept.map((name) => [name, answer[name]])),
      content: [{ type: 'text', text: replacement }],
      stop_reason: 'end_turn',
      stop_sequence: null,
    };
  },
};
