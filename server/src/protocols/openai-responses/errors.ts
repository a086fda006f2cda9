import { openaiErrors } from '../openai/errors.ts';
import type { ErrorRules } from '../protocol.ts';

/** https://platform.openai.com/docs/api-reference/responses-streaming/error */
export const responsesErrors: ErrorRules = {
  ...openaiErrors,
  // OpenAI's types have the members at the top, its API sends them in `error`: clients read one or the other.
  interruptedFrame(error, _status, before) {
    const { code, message, param = null } = error;
    const said = { type: 'error', code, message, param, sequence_number: numberAfter(before), error };
    return `event: error\ndata: ${JSON.stringify(said)}\n\n`;
  },
};

/** Events are numbered from 0. */
function numberAfter(frames: string): number {
  const last = [...frames.matchAll(/"sequence_number":\s?(\d+)/g)].at(-1)?.[1];
  return last === undefined ? 0 : Number(last) + 1;
}
