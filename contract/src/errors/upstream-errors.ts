import type { ErrorDefinition } from './error-definition.ts';

/** Failures of providers and guardrails. */
export const upstreamErrors = {
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
    fix: 'Store the credential again, enable it, or allow the private network that `base_url` points to with `RELAY_ALLOW_PRIVATE_NETWORKS`. `relay start` allows loopback addresses while it listens on loopback only.',
    owner: 'config',
  },
  upstream_credential_refused: {
    status: 502,
    type: 'upstream_error',
    message:
      'The provider refused the credential that Relay sent. Check the provider’s credential; the details of this request have its own text.',
    why: 'The provider answered 401, 402, 403 or 407: it does not know the credential, does not allow it this call or model, or wants to be paid. No other candidate answered. The answer concerns Relay’s configuration and can quote the credential, so it is not passed on.',
    fix: 'Read `upstream_message` of the attempt in `GET /api/relay/requests/{request_id}`. Store a valid credential, allow it the model, or settle the account at the provider.',
    owner: 'config',
  },
  upstream_redirected: {
    status: 502,
    type: 'upstream_error',
    message:
      'The provider answered with a redirect, and Relay does not follow redirects. Correct its base URL.',
    why: 'The upstream answered with a 3xx, and no other candidate answered. Relay neither follows a redirect nor passes it on: the client would send the whole request, past guardrails and limits, to whatever address it names.',
    fix: 'Set `base_url` of the provider to the address that answers. `upstream_message` of the attempt in `GET /api/relay/requests/{request_id}` has the address of the redirect.',
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
} as const satisfies Record<string, ErrorDefinition>;
