import type { JsonObject } from '../../kit/json-value.ts';
import { CONTENT, ERROR } from '../frame-meanings.ts';
import { openaiErrors } from '../openai/errors.ts';
import { estimateInput, openaiInputBound } from '../openai/estimate.ts';
import { frameReader, hasError } from '../openai/frames.ts';
import { openaiHeaders } from '../openai/headers.ts';
import { openaiModels } from '../openai/models.ts';
import { checkInput, openaiBody } from '../openai/request.ts';
import { embeddingsAnswer, embeddingsUsage } from '../openai/usage.ts';
import { NO_OUTPUT } from '../output-cap.ts';
import { WRITES_NOTHING } from '../output-most.ts';
import { PROBE_PROMPT, probeRules } from '../probe-rules.ts';
import type { Protocol, RequestRules } from '../protocol.ts';
import { type BodyRules, invalidField, measureRequest, readRequestBody } from '../request-body.ts';
import { spliceBody } from '../splice-body.ts';

const rules: BodyRules = {
  ...openaiBody,
  checkContent(members, settings, bytes) {
    checkInput(members, settings, bytes);
    // A provider would ignore it, and a client that waits for events would not understand the answer.
    if ((settings['stream'] ?? false) !== false)
      throw invalidField('stream', 'Embeddings are not streamed. Omit stream, or set it to false.');
  },
  isStreaming: () => false,
};

const request: RequestRules = {
  parse: (bytes) => readRequestBody(bytes, rules),
  measure: (given) => measureRequest(given, rules),
  isStreaming: rules.isStreaming,
  output: () => NO_OUTPUT,
  estimate: (body, typical) => ({ ...estimateInput(body, typical), outputTokens: 0 }),
  inputBound: openaiInputBound,
  outputMost: () => WRITES_NOTHING,
  outputCapField: null,
  asksForUsage: () => false,
  forUpstream: (body, model, { quirks } = {}) => spliceBody(body, model, [], quirks),
  ownThinking: null,
};

const usageIn = (payload: JsonObject) => embeddingsUsage(payload['usage']);

/** https://platform.openai.com/docs/api-reference/embeddings */
export const openaiEmbeddings: Protocol = {
  operation: 'embeddings',
  family: 'openai',
  routeKind: 'embeddings',
  path: '/embeddings',
  hasOutput: false,
  isFree: false,
  headers: openaiHeaders,
  request,
  answer: embeddingsAnswer,
  // Embeddings are never streamed on request. A provider that streams nevertheless is read for its errors.
  stream: {
    noteworthy: /"error"|"usage"\s*:\s*[^\sn]/,
    noteworthyWithTier: null,
    readFrame: frameReader(usageIn, (payload) => ({
      ...(hasError(payload) ? ERROR : CONTENT),
      usage: usageIn(payload),
    })),
    textBytes: () => 0,
    textMembers: new Set(),
    notText: null,
  },
  text: null,
  errors: openaiErrors,
  models: openaiModels,
  probe: probeRules((model) => ({ model, input: PROBE_PROMPT }), 'data'),
};
