import {
  ChatCompletionRequest,
  EmbeddingsRequest,
  ModelList,
  ModelObject,
  ModelParams,
  ProviderObject,
  ResponseRequest,
} from '../resources/inference.ts';
import type { RouteTable } from '../route-definition.ts';

const dispatchErrors = [
  'model_not_found',
  'no_route',
  'guardrail_streaming_unsupported',
  'guardrail_route_kind_unsupported',
  'content_policy_violation',
  'rate_limit_wait_budget_exceeded',
  'budget_exhausted',
  'request_exceeds_limit',
  'queue_full',
  'upstream_unreachable',
  'upstream_timeout',
  'upstream_invalid_response',
  'upstream_not_prepared',
  'upstream_credential_refused',
  'upstream_redirected',
  'stream_interrupted',
  'guardrail_unavailable',
  'metering_unavailable',
] as const;

const shared = { plane: 'inference', tag: 'Inference' } as const;

export const inferenceRoutes = {
  createChatCompletion: {
    ...shared,
    method: 'POST',
    path: '/v1/chat/completions',
    access: { scope: 'relay:request' },
    summary: 'Create a chat completion',
    body: ChatCompletionRequest,
    success: { status: 200, schema: ProviderObject, streams: true },
    errors: dispatchErrors,
  },
  createResponse: {
    ...shared,
    method: 'POST',
    path: '/v1/responses',
    access: { scope: 'relay:request' },
    summary: 'Create a response',
    body: ResponseRequest,
    success: { status: 200, schema: ProviderObject, streams: true },
    errors: dispatchErrors,
  },
  createEmbeddings: {
    ...shared,
    method: 'POST',
    path: '/v1/embeddings',
    access: { scope: 'relay:request' },
    summary: 'Create embeddings',
    body: EmbeddingsRequest,
    success: { status: 200, schema: ProviderObject },
    errors: dispatchErrors.filter(
      (code) => code !== 'guardrail_streaming_unsupported' && code !== 'stream_interrupted',
    ),
  },
  listModels: {
    ...shared,
    method: 'GET',
    path: '/v1/models',
    access: { scope: 'relay:request' },
    summary: 'List callable models: upstream models, and lanes that are not hidden',
    success: { status: 200, schema: ModelList },
  },
  getModel: {
    ...shared,
    method: 'GET',
    path: '/v1/models/{model}',
    access: { scope: 'relay:request' },
    summary: 'Read one callable model',
    params: ModelParams,
    success: { status: 200, schema: ModelObject },
    errors: ['invalid_request'],
  },
} as const satisfies RouteTable;
