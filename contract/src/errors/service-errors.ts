import type { ErrorDefinition } from './error-definition.ts';

/** Failures of the deployment itself. */
export const serviceErrors = {
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
  policy_unavailable: {
    status: 503,
    type: 'policy_unavailable',
    message: 'Limits cannot be checked right now, so the request is refused. Retry shortly.',
    why: 'The admission store is unreachable while limit policies are in force; admitting without them could exceed a limit.',
    fix: 'Retry. The operator restores Redis or Valkey; `/readyz` shows its state.',
    owner: 'platform',
  },
  metering_unavailable: {
    status: 503,
    type: 'metering_unavailable',
    message: 'Usage cannot be recorded right now, so the request is refused. Retry shortly.',
    why: 'The usage store is unreachable, and the directory in which the gateway keeps usage meanwhile is full or cannot be written. Nothing was sent to a provider.',
    fix: 'Retry. The operator restores Redis or Valkey, or gives the gateway more room: `RELAY_SPOOL_DIR`, `RELAY_SPOOL_BYTES_MAX`.',
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
    why: 'The process received a stop signal. It rejects new requests, and ends those that are open when its drain time is up; a stream then ends with this error as its last frame.',
    fix: 'Retry after a second. SDKs do so by themselves.',
    owner: 'platform',
  },
} as const satisfies Record<string, ErrorDefinition>;
