import type { ErrorDefinition } from './error-definition.ts';

/** Failures of providers and guardrails. */
export const upstreamErrors = {
  upstream_unreachable: {
    status: 502,
    type: 'upstream_error',
    message: 'The provider is unreachable. Retry; if it happens again, test the provider.',
    why: 'The connection to the selected provider failed (name resolution, connect, TLS or a reset), and no other candidate was available.',
    fix: 'Retry. `POST /api/relay/providers/{provider_id}/test` shows the stage that fails.',
    owner: 'upstream',
    retry: true,
  },
  upstream_timeout: {
    status: 502,
    type: 'upstream_error',
    message: 'The provider did not respond in time. Retry, or raise the endpoint’s timeout (max_latency_ms).',
    why: 'The selected provider exceeded a timeout: connect, response headers, idle between frames, or total.',
    fix: 'Retry, lower max tokens, or raise the endpoint’s or provider’s `max_latency_ms`.',
    owner: 'upstream',
    retry: true,
  },
  upstream_invalid_response: {
    status: 502,
    type: 'upstream_error',
    message:
      'The provider sent an invalid response. Check the provider’s base URL and the endpoint’s protocol.',
    why: 'The response is not the JSON or event stream that the operation requires, it can’t be translated to the client’s protocol, or it was cut off.',
    fix: 'Check that `base_url` points to a compatible API, and that the endpoint’s `protocol` is the provider’s. The provider has done, and bills, the work of such a response. Retry only if it was cut off; Relay then sends `x-should-retry: true`.',
    owner: 'upstream',
    retry: false,
  },
  upstream_not_prepared: {
    status: 502,
    type: 'upstream_error',
    message: 'The selected provider has no usable credential or address. Check both.',
    why: 'The credential is missing or disabled, Relay can’t decrypt it with the master key, or the egress rules don’t allow the address.',
    fix: 'If every credential fails, or only on one process, a process has another `RELAY_MASTER_KEY` than the others: `/readyz` says so. Give it the right key; a credential that you store now would be encrypted under the wrong one. Otherwise add or enable the credential, or set `RELAY_ALLOW_PRIVATE_NETWORKS` to allow the private network that `base_url` points to. `relay start` allows loopback addresses while it listens on loopback only.',
    owner: 'config',
    retry: false,
  },
  upstream_credential_refused: {
    status: 502,
    type: 'upstream_error',
    message:
      'The provider rejected Relay’s credential. Check the provider’s credential; the request log has the provider’s message.',
    why: 'The provider returned 401, 402, 403 or 407: the credential is unknown or lacks access to this call or model, or the account has no credit left. No other candidate responded. The response can quote the credential, so Relay does not pass it on.',
    fix: 'Read the attempt’s `upstream_message` in `GET /api/relay/requests/{request_id}`. Store a valid credential, give it access to the model, or pay the provider’s bill.',
    owner: 'config',
    retry: false,
  },
  upstream_redirected: {
    status: 502,
    type: 'upstream_error',
    message: 'The provider returned a redirect, which Relay does not follow. Correct its base URL.',
    why: 'The provider returned a 3xx response, and no other candidate responded. Relay neither follows nor passes on a redirect: the client would send the request to another address, without guardrails and limits.',
    fix: 'Set the provider’s `base_url` to the final address. The attempt’s `upstream_message` in `GET /api/relay/requests/{request_id}` has the redirect’s address.',
    owner: 'config',
    retry: false,
  },
  stream_interrupted: {
    status: 502,
    type: 'upstream_error',
    message: 'The provider’s stream was interrupted. The response is incomplete; send the request again.',
    why: 'The provider failed or stopped sending after the stream was open. Relay never restarts a stream, because a second response would not continue the first.',
    fix: 'Discard or keep the partial text, and send the request again. The error arrives as the last event, in the format of the client’s protocol: `data: {"error": …}` without `[DONE]`, or an `error` event.',
    owner: 'upstream',
    retry: true,
  },
  guardrail_unavailable: {
    status: 503,
    type: 'guardrail_unavailable',
    message: 'A guardrail that applies to this request is unavailable and fails closed. Retry shortly.',
    why: 'The guardrail did not return a valid response within its `timeout_ms`, and its `failure_mode` is `fail_closed`.',
    fix: 'Retry. If it happens again, test the guardrail, or set `failure_mode` to `fail_open` where that is acceptable.',
    owner: 'upstream',
    retry: true,
  },
} as const satisfies Record<string, ErrorDefinition>;
