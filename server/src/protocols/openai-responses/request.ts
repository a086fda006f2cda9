import { estimateTokens, openaiInputBound, responsesBounds, responsesMost } from '../openai/estimate.ts';
import { checkInput, openaiBody } from '../openai/request.ts';
import { sealedReasoning } from '../own-thinking.ts';
import type { RequestRules } from '../protocol.ts';
import { type BodyRules, measureRequest, readRequestBody } from '../request-body.ts';
import { capSetting, spliceBody } from '../splice-body.ts';

const rules: BodyRules = { ...openaiBody, checkContent: checkInput };

const OUTPUT_CAP = 'max_output_tokens';

export const responsesRequest: RequestRules = {
  parse: (bytes) => readRequestBody(bytes, rules),
  measure: (request) => measureRequest(request, rules),
  isStreaming: rules.isStreaming,
  output: responsesBounds,
  estimate: (body, typical) => estimateTokens(body, responsesBounds(body), typical),
  inputBound: openaiInputBound,
  outputMost: responsesMost,
  outputCapField: OUTPUT_CAP,
  // The closing event of every stream reports usage.
  asksForUsage: () => false,
  forUpstream: (body, model, { quirks, removal = null, outputCap = null } = {}) =>
    spliceBody(body, model, [removal, capSetting(OUTPUT_CAP, outputCap)], quirks),
  ownThinking: sealedReasoning,
};
