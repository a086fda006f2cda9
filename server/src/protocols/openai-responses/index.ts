import { openaiErrors } from '../openai/errors.ts';
import { PROBE_PROMPT, probeRules } from '../openai/probe.ts';
import { openaiAnswer } from '../openai/usage.ts';
import type { Protocol } from '../protocol.ts';
import { responsesStream } from './frames.ts';
import { responsesRequest } from './request.ts';
import { responsesText } from './text.ts';

/** The smallest `max_output_tokens` that the API accepts. */
const OUTPUT_TOKENS_MIN = 16;

/** https://platform.openai.com/docs/api-reference/responses */
export const openaiResponses: Protocol = {
  operation: 'responses',
  path: '/responses',
  hasOutput: true,
  request: responsesRequest,
  answer: openaiAnswer,
  stream: responsesStream,
  text: responsesText,
  errors: openaiErrors,
  probe: probeRules(
    (model) => ({ model, input: PROBE_PROMPT, max_output_tokens: OUTPUT_TOKENS_MIN, store: false }),
    'output',
  ),
};
