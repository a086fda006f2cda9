/** Every header that Relay reads or sets, spelled as on the wire. */
export const headers = {
  authorization: 'Authorization',
  apiKey: 'x-api-key',
  wwwAuthenticate: 'WWW-Authenticate',
  requestId: 'x-request-id',
  anthropicRequestId: 'request-id',
  overheadMs: 'x-relay-overhead-ms',
  errorSource: 'x-relay-error-source',
  retryAfter: 'Retry-After',
  retryAfterMs: 'retry-after-ms',
  shouldRetry: 'x-should-retry',
  rateLimitLimitRequests: 'x-ratelimit-limit-requests',
  rateLimitRemainingRequests: 'x-ratelimit-remaining-requests',
  rateLimitResetRequests: 'x-ratelimit-reset-requests',
  rateLimitLimitTokens: 'x-ratelimit-limit-tokens',
  rateLimitRemainingTokens: 'x-ratelimit-remaining-tokens',
  rateLimitResetTokens: 'x-ratelimit-reset-tokens',
  nextCursor: 'X-Next-Cursor',
  link: 'Link',
  idempotencyKey: 'Idempotency-Key',
  idempotencyReplayed: 'idempotency-replayed',
  etag: 'ETag',
  ifMatch: 'If-Match',
  csrfToken: 'x-csrf-token',
  selectedEndpoint: 'X-Relay-Selected-Endpoint',
  selectedEndpointId: 'X-Relay-Selected-Endpoint-Id',
  selectedProviderId: 'X-Relay-Selected-Provider-Id',
  selectedUpstreamModel: 'X-Relay-Selected-Upstream-Model',
  waitMs: 'X-Relay-Wait-Ms',
  fallbackCount: 'X-Relay-Fallback-Count',
  translatedTo: 'X-Relay-Translated-To',
  leftOut: 'X-Relay-Left-Out',
  outputCap: 'X-Relay-Output-Cap',
  estimated: 'X-Relay-Estimated',
  estimatedInputTokens: 'X-Relay-Estimated-Input-Tokens',
  estimatedOutputTokens: 'X-Relay-Estimated-Output-Tokens',
  estimatedCostMicros: 'X-Relay-Estimated-Cost-Micros',
  actualInputTokens: 'X-Relay-Actual-Input-Tokens',
  actualOutputTokens: 'X-Relay-Actual-Output-Tokens',
  actualTotalTokens: 'X-Relay-Actual-Total-Tokens',
  actualCostMicros: 'X-Relay-Actual-Cost-Micros',
} as const;

export type HeaderKey = keyof typeof headers;
export type HeaderName = (typeof headers)[HeaderKey];

export const headerKeys: readonly HeaderKey[] = Object.keys(headers).filter(isHeaderKey);

function isHeaderKey(value: string): value is HeaderKey {
  return Object.hasOwn(headers, value);
}

export interface HeaderDescription {
  readonly type: 'string' | 'integer' | 'number' | 'boolean';
  readonly direction: 'request' | 'response' | 'both';
  /** The requests or responses that carry it. */
  readonly on: string;
  readonly meaning: string;
  /** The inference routes whose 200 can carry it, by what their path contains. Absent: none. */
  readonly inference?: string;
}

const ANY = '/';
const MESSAGES = '/messages';
const threePosts = '200 responses from the chat completions, responses, embeddings and messages routes';
const nonStreaming = `${threePosts}, except streams, if the provider reported usage and the response has at most 8 MiB`;
const anyInference = 'inference responses when a limit applies; a 429 describes the limit that caused it';
const pagedLists = 'list responses when `limit` was sent';

export const headerDescriptions: Readonly<Record<HeaderKey, HeaderDescription>> = {
  authorization: request('string', 'every route that is not public', '`Bearer <API_KEY>`.'),
  apiKey: request(
    'string',
    '`/v1/messages` and its subpaths; `/v1/models` with `anthropic-version`',
    'The key, as Anthropic’s clients send it. Ignored if `Authorization` is also sent; never forwarded to a provider.',
  ),
  wwwAuthenticate: response(
    'string',
    '401 responses',
    '`Bearer realm="relay"`; with `error="invalid_token"` when the key or session is not valid.',
  ),
  requestId: {
    type: 'string',
    direction: 'both',
    on: 'all responses; optional on requests',
    meaning: 'The request ID. A client’s own value is kept as `client_request_id` in the log.',
  },
  anthropicRequestId: inference(
    'string',
    'responses from `/v1/messages` and its subpaths; from `/v1/models` with `anthropic-version`',
    'The same ID where Anthropic’s clients look for it.',
    MESSAGES,
  ),
  overheadMs: inference(
    'number',
    'inference responses',
    'Gateway overhead in milliseconds, excluding the wait.',
  ),
  errorSource: inference(
    'string',
    'error responses, and 200 streams that begin with a provider’s error',
    '`upstream` when the body is the provider’s own, else `relay`.',
  ),
  retryAfter: response(
    'string',
    '429 and 503 responses',
    'Seconds to wait before a retry. If a limit caused the error, Relay can admit the same request after that time; for a concurrency limit, it is an estimate from 1 to 60.',
  ),
  retryAfterMs: response('integer', '429 and 503 responses', 'The same, in milliseconds.'),
  shouldRetry: response(
    'boolean',
    'error responses',
    'Whether the same request can succeed within a minute; OpenAI’s and Anthropic’s SDKs obey it. Each error code has its value in [Errors](errors/README.md). Where `x-relay-error-source` is `upstream`, it is the provider’s, if it sent one.',
  ),
  rateLimitLimitRequests: inference('integer', anyInference, 'The tightest limit on requests.'),
  rateLimitRemainingRequests: inference('integer', anyInference, 'Requests left under that limit.'),
  rateLimitResetRequests: inference('string', anyInference, 'Time until that limit resets, such as `1.5s`.'),
  rateLimitLimitTokens: inference('integer', anyInference, 'The tightest limit on tokens.'),
  rateLimitRemainingTokens: inference('integer', anyInference, 'Tokens left under that limit.'),
  rateLimitResetTokens: inference('string', anyInference, 'Time until that limit resets, such as `1.5s`.'),
  nextCursor: response(
    'string',
    pagedLists,
    'Send it as `cursor` to get the next page. Absent on the last page.',
  ),
  link: response('string', pagedLists, '`<…>; rel="next"`: the URL of the next page.'),
  idempotencyKey: request(
    'string',
    'management POST requests',
    'A retry with the same key returns the first response.',
  ),
  idempotencyReplayed: response(
    'boolean',
    'responses to a repeated `Idempotency-Key`',
    '`true` when Relay repeats the first response and creates nothing.',
  ),
  etag: response(
    'string',
    'responses that return one management resource',
    'The version of the resource. Resources that only a list returns have it in the `etag` of their row.',
  ),
  ifMatch: request(
    'string',
    'writes of one resource, also by upsert',
    'Applies the change only if the resource still has this version: the `ETag` of its read, or the `etag` of its row. An upsert that would create the resource fails.',
  ),
  csrfToken: request('string', 'writes with a browser session', 'The session’s `csrf_token`.'),
  selectedEndpoint: inference('string', threePosts, 'Name of the selected endpoint.'),
  selectedEndpointId: inference('string', threePosts, 'ID of the selected endpoint.'),
  selectedProviderId: inference('string', threePosts, 'ID of the selected provider.'),
  selectedUpstreamModel: inference('string', threePosts, 'The upstream model used.'),
  waitMs: inference('integer', threePosts, 'Time waited for capacity, in milliseconds.'),
  fallbackCount: inference('integer', threePosts, 'Fallbacks used.'),
  translatedTo: inference(
    'string',
    'responses from an endpoint whose protocol differs from the client’s',
    'The operation that the request was translated to, such as `chat`.',
  ),
  leftOut: inference(
    'string',
    'responses to requests from which Relay omitted fields',
    'Request fields that Relay did not send to the provider, because its protocol can’t express them, its preset drops them, or they are thinking blocks that Relay translated in an earlier turn. Words in parentheses say in which way the provider got the field instead. Names that begin with `response.` are what a response that is not streamed had beside its content.',
  ),
  outputCap: inference(
    'integer',
    'responses to requests that are subject to a hard limit and set no output cap',
    'The output cap that Relay added to the request, in tokens per choice. A response of this length was probably cut off.',
  ),
  estimated: inference(
    'boolean',
    '200 responses from `/v1/messages/count_tokens`',
    '`true` when the count is Relay’s estimate, because no endpoint can count tokens for this model.',
    '/count_tokens',
  ),
  estimatedInputTokens: inference('integer', threePosts, 'Input tokens, estimated at admission.'),
  estimatedOutputTokens: inference('integer', threePosts, 'Output tokens, estimated at admission.'),
  estimatedCostMicros: inference('integer', threePosts, 'Estimated cost in micro-USD, rounded up.'),
  actualInputTokens: inference(
    'integer',
    nonStreaming,
    'Input tokens of the request: the sum of its attempts.',
  ),
  actualOutputTokens: inference(
    'integer',
    nonStreaming,
    'Output tokens of the request: the sum of its attempts.',
  ),
  actualTotalTokens: inference(
    'integer',
    nonStreaming,
    'Total tokens of the request: the sum of its attempts.',
  ),
  actualCostMicros: inference(
    'integer',
    nonStreaming,
    'Cost of the request in micro-USD at the configured prices, the sum of its attempts, rounded half up.',
  ),
};

function response(type: HeaderDescription['type'], on: string, meaning: string): HeaderDescription {
  return { type, direction: 'response', on, meaning };
}

/** Describes a header of the inference routes whose path contains `where`. */
function inference(
  type: HeaderDescription['type'],
  on: string,
  meaning: string,
  where = ANY,
): HeaderDescription {
  return { ...response(type, on, meaning), inference: where };
}

function request(type: HeaderDescription['type'], on: string, meaning: string): HeaderDescription {
  return { type, direction: 'request', on, meaning };
}
