/** Who has to act for the error to go away. */
export type ErrorOwner = 'client' | 'config' | 'capacity' | 'upstream' | 'platform';

export interface ErrorDefinition {
  readonly status: number;
  /** The coarse class that SDKs switch on. */
  readonly type: string;
  /** The default public text: what happened, why, what to do. It never carries internal detail. */
  readonly message: string;
  readonly why: string;
  readonly fix: string;
  readonly owner: ErrorOwner;
}

/**
 * The closed list of errors the service itself makes. The key is the wire's `code`.
 * Every entry has a generated page, and `doc_url` points to it.
 */
export const errors = {
  invalid_json: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request body is not valid JSON. Send one JSON object with Content-Type: application/json.',
    why: 'The body could not be parsed as JSON, or it is not a JSON object.',
    fix: 'Check the body with a JSON parser before sending it; look for trailing commas, single quotes and cut-off text.',
    owner: 'client',
  },
  invalid_request: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A field of the request is missing or has a wrong value. Correct the field named in `param`.',
    why: 'The body, a query parameter or a path parameter does not match the schema of the route.',
    fix: 'Read `message` and `param`: they name the field and what it must be. The schema is in `/openapi.json`.',
    owner: 'client',
  },
  model_not_found: {
    status: 400,
    type: 'invalid_request_error',
    message: 'No lane or model has this name. Use a lane slug or a model that GET /v1/models lists.',
    why: '`model` matched no lane slug or name, no `provider-slug/upstream-model` and no upstream model of an enabled endpoint.',
    fix: 'List callable names with `GET /v1/models?include=lanes`, or create the lane or endpoint.',
    owner: 'client',
  },
  no_route: {
    status: 400,
    type: 'invalid_request_error',
    message: 'No enabled candidate can serve this request. Enable an endpoint that supports this operation.',
    why: 'The lane or model exists, but none of its enabled endpoints serves this operation with these features (for example streaming).',
    fix: 'Enable a membership whose endpoint has a fitting `route_kind` and `supports_streaming`, or change the request. `POST /api/relay/routing/explain` shows the verdict for every candidate.',
    owner: 'config',
  },
  guardrail_streaming_unsupported: {
    status: 400,
    type: 'guardrail_streaming_unsupported',
    message: 'A guardrail applies to this request and cannot inspect a stream. Send it with stream: false.',
    why: 'Guardrails inspect whole requests and responses; an effective guardrail makes streaming impossible.',
    fix: 'Set `stream` to false, or use a lane to which no guardrail is bound.',
    owner: 'client',
  },
  guardrail_route_kind_unsupported: {
    status: 400,
    type: 'guardrail_route_kind_unsupported',
    message:
      'A guardrail applies to this request and does not support this operation. Use an unguarded lane.',
    why: 'Guardrails support chat completions and responses only; embeddings cannot be inspected.',
    fix: 'Send embeddings through a lane, provider and endpoint to which no guardrail is bound.',
    owner: 'client',
  },
  missing_api_key: {
    status: 401,
    type: 'authentication_error',
    message: 'No API key was sent. Add the header Authorization with the word Bearer and the key.',
    why: 'The `Authorization` header is absent or does not use the Bearer scheme.',
    fix: 'Send `Authorization: Bearer <API_KEY>`. In self-hosted mode inference takes the API token and management the admin token.',
    owner: 'client',
  },
  invalid_api_key: {
    status: 401,
    type: 'authentication_error',
    message: 'The API key is not valid here. Check that the key is whole and belongs to this deployment.',
    why: 'The key is malformed or unknown, or the token belongs to the other door (API token on management, admin token on inference).',
    fix: 'Copy the key again from where it was created, or create a new one.',
    owner: 'client',
  },
  expired_api_key: {
    status: 401,
    type: 'authentication_error',
    message: 'The API key has expired. Create a new key and use it instead.',
    why: 'The time in `expires_at` of the key has passed.',
    fix: 'Create a replacement key. Budgets of the old key do not transfer to the new one.',
    owner: 'client',
  },
  revoked_api_key: {
    status: 401,
    type: 'authentication_error',
    message: 'The API key was revoked and no longer authenticates. Create a new key and use it instead.',
    why: 'The key was revoked by its owner or by someone with the security permission.',
    fix: 'Create a replacement key. Other keys of the same owner keep working.',
    owner: 'client',
  },
  insufficient_scope: {
    status: 403,
    type: 'permission_error',
    message: 'The API key lacks the scope this route needs. Create a key that carries it.',
    why: 'Scopes are fixed when a key is created; this key does not hold the scope of the route.',
    fix: 'Create a replacement key with the scope. The scope of every route is in the route reference.',
    owner: 'client',
  },
  permission_denied: {
    status: 403,
    type: 'permission_error',
    message:
      'The owner of this key is not permitted to do this. Ask an organization owner for the permission.',
    why: 'The effective access is the intersection of the key’s scopes with the current permissions of its owner, and the owner lacks this one. A key also cannot grant more than it holds.',
    fix: 'Have an owner or admin change the role, then create a new key: new grants do not reach existing keys.',
    owner: 'client',
  },
  product_access_denied: {
    status: 403,
    type: 'permission_error',
    message: 'This organization has no access to the product. Ask the organization owner to enable it.',
    why: 'The key belongs to an organization or product that may not use this service.',
    fix: 'Enable the product for the organization, or use a key of an organization that has it.',
    owner: 'config',
  },
  entitlement_missing: {
    status: 403,
    type: 'permission_error',
    message: 'The plan of this organization does not include this feature. Change the plan to use it.',
    why: 'The effective access includes the plan’s entitlements, and the plan lacks this one.',
    fix: 'Change the plan, or stop using the feature.',
    owner: 'config',
  },
  accounts_disabled: {
    status: 403,
    type: 'permission_error',
    message: 'This deployment runs without accounts. Set RELAY_ACCOUNTS=true to use keys and budgets.',
    why: 'In self-hosted mode without accounts there is one implicit owner and two deployment-wide tokens; keys, members and budgets do not exist.',
    fix: 'Start the server with `RELAY_ACCOUNTS=true`, or use resource limit policies instead of budgets.',
    owner: 'config',
  },
  mode_unsupported: {
    status: 403,
    type: 'permission_error',
    message:
      'This route is not available in the mode of this deployment. GET /api/relay/capabilities lists what is.',
    why: 'Some resources exist in one mode only: resource limit policies, for example, are for self-hosted deployments.',
    fix: 'In hosted mode use user and API-key budgets instead of resource limit policies.',
    owner: 'config',
  },
  content_policy_violation: {
    status: 403,
    type: 'content_policy_violation',
    message: 'A guardrail blocked this request. Change the content, or ask the owner of the guardrail.',
    why: 'A bound guardrail judged the request or the response to be against its policy. The error names the guardrail and the stage, never the matched text.',
    fix: 'Change the content. Retrying the same request gives the same answer.',
    owner: 'client',
  },
  not_found: {
    status: 404,
    type: 'not_found_error',
    message: 'No such resource exists in the scope this key may see. Check the id.',
    why: 'The id is unknown, was deleted, or belongs to another organization.',
    fix: 'List the collection to see the ids this key may use.',
    owner: 'client',
  },
  route_not_found: {
    status: 404,
    type: 'not_found_error',
    message: 'No route has this path. Check the path; inference lives under /v1, management under /api.',
    why: 'The path is not part of the interface.',
    fix: 'See `/openapi.json` for every path. The inference base URL ends in `/v1`; management paths carry no `/v1`.',
    owner: 'client',
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    message: 'The request body did not arrive in time. Send it again over a faster or steadier connection.',
    why: 'The client was too slow to send the headers or the body, and the connection is not held open without end.',
    fix: 'Retry. When it repeats, look for a proxy that buffers or drops the upload.',
    owner: 'client',
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    message: 'This path does not support this method. The Allow header lists those it does.',
    why: 'The path exists, but not with this HTTP method.',
    fix: 'Use one of the methods in the `Allow` header.',
    owner: 'client',
  },
  conflict: {
    status: 409,
    type: 'conflict_error',
    message: 'The change conflicts with an existing resource. Use another name, or change the existing one.',
    why: 'A resource with the same unique value exists, or another resource still refers to the one being deleted.',
    fix: 'Read `param` and `message`: they name the value or the reference. Rename, or remove the reference first.',
    owner: 'client',
  },
  managed_by_file: {
    status: 409,
    type: 'conflict_error',
    message: 'This resource is owned by the configuration file. Change it there and apply the file.',
    why: 'Each resource has one owner, so that a change made here is not silently undone by the next apply.',
    fix: 'Edit the configuration file and apply it, or remove the resource from the file first.',
    owner: 'config',
  },
  idempotency_conflict: {
    status: 409,
    type: 'conflict_error',
    message: 'This Idempotency-Key was used for a different request. Use a new key for a new request.',
    why: 'An idempotency key stands for one request; a different body or route with the same key is refused. The same request while the first is still running is refused too.',
    fix: 'Generate a new `Idempotency-Key` for every new request, and repeat it only for retries.',
    owner: 'client',
  },
  version_conflict: {
    status: 412,
    type: 'conflict_error',
    message: 'The resource has changed since it was read. Read it again and repeat the change.',
    why: 'The `If-Match` header does not equal the current `ETag` of the resource.',
    fix: 'Read the resource, apply the change to what it is now, and send its new `ETag` in `If-Match`.',
    owner: 'client',
  },
  body_too_large: {
    status: 413,
    type: 'invalid_request_error',
    message: 'The request body exceeds the configured size limit. Send a smaller body.',
    why: 'Inference bodies are limited by `RELAY_MAX_BODY_BYTES` (20 MiB by default), management bodies to 1 MiB.',
    fix: 'Send less, for example links instead of inline images, or raise the limit of the deployment.',
    owner: 'client',
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    message: 'The request body must be JSON. Send it with Content-Type: application/json.',
    why: 'The `Content-Type` or `Content-Encoding` of the request is not one the service reads.',
    fix: 'Send uncompressed JSON with `Content-Type: application/json`.',
    owner: 'client',
  },
  rate_limit_wait_budget_exceeded: {
    status: 429,
    type: 'rate_limit_wait_budget_exceeded',
    message: 'No candidate has capacity within the wait budget. Retry after the time in Retry-After.',
    why: 'Every candidate of the lane is at a limit, and the soonest would be free later than the lane’s wait budget allows. The error names the limiting policy.',
    fix: 'Retry after `Retry-After`. To refuse less often, raise the limit or the lane’s `default_max_wait_ms`, or add a candidate.',
    owner: 'capacity',
  },
  budget_exhausted: {
    status: 429,
    type: 'rate_limit_wait_budget_exceeded',
    message: 'A budget is used up until its window resets. Raise the budget, or wait for the reset.',
    why: 'The limiting policy resets more than 60 seconds from now (an hour, day or month budget), so waiting or retrying soon cannot help.',
    fix: 'Raise the limit of the policy the error names, or send the request after the reset. `x-should-retry: false` keeps SDKs from sleeping.',
    owner: 'capacity',
  },
  request_exceeds_limit: {
    status: 429,
    type: 'request_exceeds_limit',
    message:
      'This request alone is larger than a limit that applies to it. Make it smaller, or raise the limit.',
    why: 'The estimate for this one request exceeds the whole limit of a policy, so no wait could ever admit it.',
    fix: 'Lower the output cap or the input, or raise the limit of the policy the error names. Do not retry unchanged.',
    owner: 'capacity',
  },
  queue_full: {
    status: 429,
    type: 'queue_full',
    message: 'Too many requests are already waiting for this lane or key. Slow down and retry.',
    why: 'The number of waiting requests per lane and per key is bounded, so that waiting never grows without end.',
    fix: 'Retry with backoff, send fewer requests at once, or raise the limits that make requests wait.',
    owner: 'capacity',
  },
  internal_error: {
    status: 500,
    type: 'api_error',
    message: 'The service failed unexpectedly. Retry; when it repeats, report the request id.',
    why: 'A fault in the service itself. The log line with this request id has the detail.',
    fix: 'Retry once. When it repeats, send the operator the `request_id`.',
    owner: 'platform',
  },
  not_implemented: {
    status: 501,
    type: 'api_error',
    message:
      'This route is part of the interface but is not served by this version yet. Use a later version.',
    why: 'The contract lists the route before the server serves it.',
    fix: 'Update the deployment; `GET /api/relay/capabilities` shows its version and features.',
    owner: 'platform',
  },
  upstream_unreachable: {
    status: 502,
    type: 'upstream_error',
    message: 'The provider could not be reached. Retry; when it repeats, test the provider.',
    why: 'The connection to the selected upstream failed (name resolution, connect, TLS or a reset), and bounded fallback found no other candidate.',
    fix: 'Retry. `POST /api/relay/providers/{provider_id}/test` shows the step that fails.',
    owner: 'upstream',
  },
  upstream_timeout: {
    status: 502,
    type: 'upstream_error',
    message: 'The provider did not answer in time. Retry, or raise max_latency_ms of the endpoint.',
    why: 'The selected upstream exceeded a deadline: connect, response headers, idle between frames, or total.',
    fix: 'Retry, ask for less output, or raise `max_latency_ms` of the endpoint or provider.',
    owner: 'upstream',
  },
  upstream_invalid_response: {
    status: 502,
    type: 'upstream_error',
    message: 'The provider sent an answer that cannot be read. Retry, or check the endpoint’s base URL.',
    why: 'The upstream’s answer is not the JSON or event stream that the operation promises, or it was cut off.',
    fix: 'Retry. When it repeats, check that `base_url` points to a provider-compatible API.',
    owner: 'upstream',
  },
  upstream_not_prepared: {
    status: 502,
    type: 'upstream_error',
    message: 'The selected provider could not be prepared. Check its credential and address.',
    why: 'The credential is missing, disabled or unreadable under the master key, or the address is not allowed by the egress rules.',
    fix: 'Store the credential again, enable it, or allow the private network that `base_url` points to.',
    owner: 'config',
  },
  stream_interrupted: {
    status: 502,
    type: 'upstream_error',
    message:
      'The provider’s stream broke off before its end. The text so far is incomplete; send the request again.',
    why: 'The upstream failed or fell silent after the first content was sent. A committed stream is never restarted, because a second answer would not continue the first.',
    fix: 'Discard or keep the partial text, and send the request again. It appears as a `data: {"error": …}` frame without `[DONE]`.',
    owner: 'upstream',
  },
  guardrail_unavailable: {
    status: 503,
    type: 'guardrail_unavailable',
    message: 'A guardrail that must judge this request is unavailable. Retry shortly.',
    why: 'The guardrail did not answer properly within its `timeout_ms`, and its `failure_mode` is `fail_closed`.',
    fix: 'Retry. When it repeats, test the guardrail, or set `failure_mode` to `fail_open` where that is acceptable.',
    owner: 'upstream',
  },
  policy_unavailable: {
    status: 503,
    type: 'policy_unavailable',
    message: 'Limits cannot be checked right now, so the request is refused. Retry shortly.',
    why: 'The admission store is unreachable while limit policies are in force; admitting without them could exceed a limit.',
    fix: 'Retry. The operator restores Redis or Valkey; `/readyz` shows its state.',
    owner: 'platform',
  },
  store_unavailable: {
    status: 503,
    type: 'api_error',
    message: 'The database is unavailable. Retry shortly; inference for known configuration continues.',
    why: 'PostgreSQL cannot be reached or does not answer in time.',
    fix: 'Retry. The operator restores the database; `/readyz` shows its state.',
    owner: 'platform',
  },
  configuration_unavailable: {
    status: 503,
    type: 'api_error',
    message: 'The configuration this request needs is not loaded. Retry shortly.',
    why: 'The gateway has no snapshot of this organization’s configuration yet and cannot load one.',
    fix: 'Retry. When it repeats, the operator checks the database and `/readyz`.',
    owner: 'platform',
  },
  draining: {
    status: 503,
    type: 'draining',
    message: 'This server is shutting down and takes no new requests. Retry; another server will answer.',
    why: 'The process received a stop signal, finishes what is under way and refuses what is new or still waiting.',
    fix: 'Retry after a second. SDKs do so by themselves.',
    owner: 'platform',
  },
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errors;

export const errorCodes = Object.keys(errors) as readonly ErrorCode[];

export function isErrorCode(value: string): value is ErrorCode {
  return Object.hasOwn(errors, value);
}
