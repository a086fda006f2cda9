import type { ErrorDefinition } from './error-definition.ts';

/** Failures of the deployment itself. */
export const serviceErrors = {
  internal_error: {
    status: 500,
    type: 'api_error',
    message: 'The service failed unexpectedly. Retry; if it happens again, report the request ID.',
    why: 'An internal error. The log line with this request ID has the details.',
    fix: 'Retry once. If it happens again, send the operator the `request_id`.',
    owner: 'platform',
    retry: true,
  },
  not_implemented: {
    status: 501,
    type: 'api_error',
    message: 'This version does not support this route yet. Use a later version.',
    why: 'The API defines the route before the server supports it.',
    fix: 'Update the deployment; `GET /api/relay/capabilities` shows its version and features.',
    owner: 'platform',
    retry: false,
  },
  policy_unavailable: {
    status: 503,
    type: 'policy_unavailable',
    message: 'Relay can’t check limits right now, so it doesn’t send the request. Retry in 1 s.',
    why: 'The admission store is unreachable while limits are enabled; admitting requests could exceed a limit.',
    fix: 'Retry. Operators: restore Redis or Valkey; `/readyz` shows its state.',
    owner: 'platform',
    retry: true,
  },
  metering_unavailable: {
    status: 503,
    type: 'metering_unavailable',
    message: 'Relay can’t record usage, so it rejects the request. Retry shortly.',
    why: 'The usage store is unreachable, and the spool directory is full or not writable. Relay sent nothing to a provider.',
    fix: 'Retry. Operators: restore Redis or Valkey, or enlarge the spool: `RELAY_SPOOL_DIR`, `RELAY_SPOOL_BYTES_MAX`.',
    owner: 'platform',
    retry: true,
  },
  store_unavailable: {
    status: 503,
    type: 'api_error',
    message:
      'The database is unavailable. Retry shortly. Inference continues with the last known configuration.',
    why: 'PostgreSQL or Redis is unreachable or does not respond in time.',
    fix: 'Retry. Operators: restore the store; `/readyz` shows which one is unavailable.',
    owner: 'platform',
    retry: true,
  },
  configuration_unavailable: {
    status: 503,
    type: 'api_error',
    message: 'The configuration this request needs is not loaded. Retry shortly.',
    why: 'Relay has no snapshot of this organization’s configuration and can’t load one.',
    fix: 'Retry. If it happens again, ask the operator to check the database and `/readyz`.',
    owner: 'platform',
    retry: true,
  },
  draining: {
    status: 503,
    type: 'draining',
    message: 'This server is draining and accepts no new requests. Retry; another server will respond.',
    why: 'The process received a stop signal. It rejects new requests, and ends those still in flight when the drain time runs out. A stream then ends with this error as its last frame.',
    fix: 'Retry after a second. SDKs do so automatically.',
    owner: 'platform',
    retry: true,
  },
} as const satisfies Record<string, ErrorDefinition>;
