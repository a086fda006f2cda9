/** Why a request failed, in a few words, by its error code; and what to do about the answers of providers. */
export const failuresText = {
  causes: {
    model_not_found: 'Unknown model',
    no_route: 'No usable endpoint',
    unpriced: 'No endpoint has a price',
    unbounded_request: 'Unbounded usage',
    guardrail_streaming_unsupported: 'Guardrail can’t check streams',
    guardrail_route_kind_unsupported: 'Guardrail can’t check this operation',
    content_policy_violation: 'Blocked by a guardrail',
    guardrail_unavailable: 'Guardrail unavailable',
    invalid_json: 'Invalid JSON',
    invalid_request: 'Invalid request',
    body_too_large: 'Request too large',
    request_timeout: 'Request arrived too slowly',
    unsupported_media_type: 'Unsupported content type',
    revoked_api_key: 'Revoked key',
    insufficient_scope: 'Key lacks a scope',
    rate_limit_wait_budget_exceeded: 'Wait budget exceeded',
    budget_exhausted: 'Limit reached',
    request_exceeds_limit: 'Exceeds a limit by itself',
    queue_full: 'Queue full',
    too_many_streams: 'Too many streams',
    upstream_unreachable: 'Provider unreachable',
    upstream_timeout: 'Provider timed out',
    upstream_invalid_response: 'Invalid provider response',
    upstream_not_prepared: 'No usable credential or address',
    upstream_credential_refused: 'Provider rejected the credential',
    upstream_redirected: 'Provider redirected',
    upstream_error_frame: 'Provider error in the stream',
    stream_interrupted: 'Stream interrupted',
    policy_unavailable: 'Limit state unavailable',
    metering_unavailable: 'Usage store unavailable',
    store_unavailable: 'Store unavailable',
    configuration_unavailable: 'Configuration unavailable',
    internal_error: 'Internal error',
    draining: 'Relay was shutting down',
    gateway_lost: 'Gateway process ended',
    client_disconnected: 'Client disconnected',
  },
  /** What to do at the console, where the error registry speaks of the API. The request’s page shows the provider’s message. */
  fixes: {
    model_not_found:
      'Create the lane or endpoint, or correct the model name in the client: Lanes has the names that clients can call.',
    no_route:
      'Enable an endpoint in the lane that supports the operation and its features, or change the request. “Explain routing” in the lane shows why each candidate was left out.',
    unpriced:
      'Set the price of the endpoint (0 for a free model), or let the limit allow endpoints without a price.',
    unbounded_request:
      'Set the endpoint’s context window, or remove the field that makes the request unbounded.',
    body_too_large: 'Send less in the client, for example links instead of inline images.',
    invalid_request: 'Fix the request in the client: the error that it received names the field.',
    rate_limit_wait_budget_exceeded:
      'Raise the limit or the lane’s wait budget, or add an endpoint to the lane. Clients can retry when the limit resets.',
    budget_exhausted: 'Raise the limit, or send the request after the limit resets.',
    request_exceeds_limit: 'Raise the limit, or lower max tokens and shorten the input in the client.',
    upstream_unreachable: 'Test the provider: the test shows the stage that fails.',
    upstream_timeout: 'Raise the timeout of the endpoint or provider, or lower max tokens in the client.',
    upstream_invalid_response:
      'Check that the provider’s base URL points to a compatible API, then test the provider.',
    upstream_not_prepared:
      'Set the provider’s credential again and enable it. If the base URL points to a private network, the operator has to allow it.',
    upstream_credential_refused:
      'Read the provider’s message on the request’s page. Set a valid credential, give it access to the model, or pay the provider’s bill.',
    upstream_redirected:
      'Set the provider’s base URL to its final address. The provider’s message on the request’s page names it.',
    stream_interrupted: 'Send the request again. If it happens again, test the provider.',
    guardrail_unavailable:
      'Test the guardrail. Where it is acceptable, let it pass requests while it is unavailable (fail open).',
    internal_error: 'Retry once. If it happens again, send the request ID to the operator.',
    policy_unavailable: 'Retry. The operator has to restore Redis or Valkey.',
    metering_unavailable: 'Retry. The operator has to restore Redis or Valkey, or enlarge the spool.',
    store_unavailable: 'Retry. The operator has to restore PostgreSQL or Redis.',
    configuration_unavailable: 'Retry. If it happens again, the operator has to check the database.',
  },
  providerReturned: (status: string) => `Provider returned ${status}`,
  /** The provider's status, as it came through to the client. */
  provider: {
    invalid: {
      why: 'The provider rejected the request as invalid, so Relay returned its response unchanged.',
      fix: 'Fix the request in the client: the response body names the field. A retry fails the same way.',
    },
    missing: {
      why: 'The provider doesn’t know the model or the path.',
      fix: 'Check the endpoint’s upstream model and the provider’s base URL, then test the endpoint.',
    },
    limited: {
      why: 'The provider’s own rate limit was reached, and no other endpoint had capacity.',
      fix: 'Add an endpoint to the lane, or set a limit just below the provider’s, so that requests wait in Relay’s queue.',
    },
    failed: {
      why: 'The provider failed, and no other endpoint was left to fall back to.',
      fix: 'Retry. If it happens again, test the endpoint and add another one to the lane.',
    },
  },
  /** What mends a cause, as a button. */
  actions: {
    raise_limit: 'Raise limit',
    set_price: 'Set price',
    replace_credential: 'Set credential',
    edit_provider: 'Edit provider',
    test_provider: 'Test provider',
    edit_endpoint: 'Edit endpoint',
    add_candidate: 'Add endpoint',
    create_lane: 'Create lane',
    edit_guardrail: 'Edit guardrail',
    check_deployment: 'Check deployment',
  },
  whatToDo: 'What to do',
  similar: 'View requests with this error',
} as const;
