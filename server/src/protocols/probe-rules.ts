import { isObject } from '../kit/json-value.ts';
import type { ProbeRules } from './protocol.ts';

export const PROBE_PROMPT = 'Hi';

/** `answerMember`: the member of an answer whose value is the list of what was asked for. */
export function probeRules(
  request: (model: string) => object,
  answerMember: string,
  requestAfter: ProbeRules['requestAfter'] = () => null,
): ProbeRules {
  return {
    request,
    requestAfter,
    // A reasoning model can use up the smallest output limit before its first word.
    provesReached: (message) => /output limit was reached/i.test(message),
    isAnswer: (answer) => isObject(answer) && Array.isArray(answer[answerMember]),
  };
}
