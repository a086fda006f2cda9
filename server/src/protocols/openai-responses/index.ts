import { openaiHeaders } from '../openai/headers.ts';
import { openaiModels } from '../openai/models.ts';
import { openaiAnswer } from '../openai/usage.ts';
import { PROBE_PROMPT, probeRules } from '../probe-rules.ts';
import type { Protocol } from '../protocol.ts';
import { responsesErrors } from './errors.ts';
import { responsesStream } from './frames.ts';
import { responsesRequest } from './request.ts';
import { responsesText } from './text.ts';

/** The smallest `max_output_tokens` that the API accepts. */
const OUTPUT_TOKENS_MIN = 16;

/** https://platform.openai.com/docs/api-reference/responses */
export const openaiResponses: Protocol = {
  operation: 'responses',
  family: 'openai',
  routeKind: 'responses',
  path: '/responses',
  hasOutput: true,
  isFree: false,
  headers: openaiHeaders,
  request: responsesRequest,
  answer: openaiAnswer,
  stream: responsesStream,
  text: responsesText,
  errors: responsesErrors,
  models: openaiModels,
  probe: probeRules(
    (model) => ({ model, input: PROBE_PROMPT, max_output_tokens: OUTPUT_TOKENS_MIN, store: false }),
    'output',
  ),
};
