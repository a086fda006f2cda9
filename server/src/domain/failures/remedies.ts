import type { ErrorCode, FailureAction } from '@relay/contract';
import { type Involved, limitWords, named, reached } from './failure-words.ts';

/** What requests with the same error code are told apart by: only what the code is about. */
export type Blamed = 'limit' | 'lane' | 'endpoint' | 'guardrail' | 'nothing';

/** What happened, and what mends it. */
export interface Remedy {
  readonly blames: Blamed;
  readonly says: (involved: Involved) => string;
  /** The first whose resource is known applies. Without any, `none` says why. */
  readonly actions: readonly FailureAction['kind'][];
  /** Why there is no action, or none while no resource is known. */
  readonly none: string;
}

const GONE = 'The resource to change is unknown or was deleted.';
const CLIENTS = 'Only the client can change its request.';
const BEFORE_LOG = 'Relay rejects such a request without writing it to the request log.';
const MANAGEMENT = 'Only management routes return this code; the request log has only inference requests.';

function mended(blames: Blamed, says: Remedy['says'], ...actions: readonly FailureAction['kind'][]): Remedy {
  return { blames, says, actions, none: GONE };
}

/** Nothing in Relay's configuration mends it. */
function unmended(says: string | Remedy['says'], none: string): Remedy {
  return { blames: 'nothing', says: typeof says === 'string' ? () => says : says, actions: [], none };
}

const neverLogged = (none: string) => unmended('Relay rejected the request.', none);

/** Every code of the registry, so that a new one does not compile without an action or a reason for having none. */
export const remedies: Readonly<Record<ErrorCode, Remedy>> = {
  rate_limit_wait_budget_exceeded: mended(
    'limit',
    (of) =>
      of.limit === null
        ? `No candidate of ${named('lane', of.lane)} had capacity within the wait budget.`
        : `${reached(of.limit)}, and the wait would have exceeded the wait budget.`,
    'raise_limit',
    'add_candidate',
  ),
  budget_exhausted: mended(
    'limit',
    (of) =>
      of.limit === null ? 'A limit was reached, and its window had not reset yet.' : `${reached(of.limit)}.`,
    'raise_limit',
  ),
  request_exceeds_limit: mended(
    'limit',
    (of) => `Single requests exceed ${limitWords(of.limit)}.`,
    'raise_limit',
  ),
  queue_full: mended(
    'lane',
    (of) => `Too many requests were already waiting for ${named('lane', of.lane)}.`,
    'add_candidate',
  ),
  model_not_found: mended(
    'nothing',
    (of) =>
      of.model === null
        ? 'Clients requested a model that no lane or endpoint has.'
        : `No lane or model is named "${of.model}".`,
    'create_lane',
  ),
  no_route: mended(
    'lane',
    (of) => `No enabled candidate of ${named('lane', of.lane)} can serve these requests.`,
    'add_candidate',
  ),
  unpriced: mended(
    'lane',
    (of) => `A spend limit applies, and ${named('endpoint', of.endpoint)} has no price.`,
    'set_price',
  ),
  unbounded_request: mended(
    'lane',
    (of) =>
      `A hard limit applies, and ${named('endpoint', of.endpoint)} has no context window that bounds these requests.`,
    'edit_endpoint',
  ),
  upstream_unreachable: mended(
    'endpoint',
    (of) => `Relay can’t connect to ${named('provider', of.provider)}.`,
    'test_provider',
  ),
  upstream_timeout: mended(
    'endpoint',
    (of) => `${named('Provider', of.provider)} did not respond in time at ${named('endpoint', of.endpoint)}.`,
    'edit_endpoint',
  ),
  upstream_invalid_response: mended(
    'endpoint',
    (of) => `${named('Provider', of.provider)} sent an invalid response.`,
    'edit_provider',
  ),
  upstream_not_prepared: mended(
    'endpoint',
    (of) => `${named('Provider', of.provider)} has no usable credential or address.`,
    'replace_credential',
  ),
  upstream_credential_refused: mended(
    'endpoint',
    (of) => `${named('Provider', of.provider)} rejected Relay’s credential.`,
    'replace_credential',
  ),
  upstream_redirected: mended(
    'endpoint',
    (of) => `${named('Provider', of.provider)} returned a redirect, which Relay does not follow.`,
    'edit_provider',
  ),
  stream_interrupted: mended(
    'endpoint',
    (of) => `${named('Provider', of.provider)} stopped sending after the first content.`,
    'test_provider',
  ),
  guardrail_unavailable: mended(
    'guardrail',
    (of) => `${named('Guardrail', of.guardrail)} was unavailable and fails closed.`,
    'edit_guardrail',
  ),
  content_policy_violation: mended(
    'guardrail',
    (of) => `${named('Guardrail', of.guardrail)} blocked the prompt or the response.`,
    'edit_guardrail',
  ),
  policy_unavailable: mended(
    'nothing',
    () => 'Relay could not read the state of limits, so it rejected requests.',
    'check_deployment',
  ),
  metering_unavailable: mended(
    'nothing',
    () => 'Relay could not record usage, so it rejected requests.',
    'check_deployment',
  ),
  store_unavailable: mended('nothing', () => 'The database was unavailable.', 'check_deployment'),
  configuration_unavailable: mended(
    'nothing',
    () => 'Relay could not load the configuration of the organization.',
    'check_deployment',
  ),
  internal_error: mended('nothing', () => 'Relay failed unexpectedly.', 'check_deployment'),

  draining: unmended(
    'A Relay server stopped while requests were in flight.',
    'The client retries, and another server responds.',
  ),
  invalid_json: unmended('Clients sent a body that is not valid JSON.', CLIENTS),
  invalid_request: unmended('Clients sent a missing or invalid field.', CLIENTS),
  body_too_large: unmended('Clients sent a body over the size limit.', CLIENTS),
  unsupported_media_type: unmended('Clients sent a body that is not JSON.', CLIENTS),
  request_timeout: unmended('Clients sent their body too slowly.', CLIENTS),
  guardrail_streaming_unsupported: unmended(
    'Clients requested a stream where a guardrail applies, and guardrails can’t check streams.',
    CLIENTS,
  ),
  guardrail_route_kind_unsupported: unmended(
    'Clients requested embeddings where a guardrail applies, and guardrails can’t check embeddings.',
    CLIENTS,
  ),

  missing_api_key: neverLogged(BEFORE_LOG),
  invalid_api_key: neverLogged(BEFORE_LOG),
  expired_api_key: neverLogged(BEFORE_LOG),
  // A key that was revoked while its request waited: the owner meant to end it.
  revoked_api_key: unmended(
    'An API key was revoked while its requests waited.',
    'The client needs an active API key.',
  ),
  invalid_context: neverLogged(BEFORE_LOG),
  insufficient_scope: neverLogged(BEFORE_LOG),
  permission_denied: neverLogged(BEFORE_LOG),
  product_access_denied: neverLogged(BEFORE_LOG),
  entitlement_missing: neverLogged(BEFORE_LOG),
  route_not_found: neverLogged(BEFORE_LOG),
  method_not_allowed: neverLogged(BEFORE_LOG),
  upgrade_required: neverLogged(BEFORE_LOG),

  not_found: neverLogged(MANAGEMENT),
  conflict: neverLogged(MANAGEMENT),
  name_taken: neverLogged(MANAGEMENT),
  managed_by_file: neverLogged(MANAGEMENT),
  idempotency_conflict: neverLogged(MANAGEMENT),
  secret_already_shown: neverLogged(MANAGEMENT),
  version_conflict: neverLogged(MANAGEMENT),
  invalid_credentials: neverLogged(MANAGEMENT),
  totp_required: neverLogged(MANAGEMENT),
  session_expired: neverLogged(MANAGEMENT),
  csrf_failed: neverLogged(MANAGEMENT),
  accounts_disabled: neverLogged(MANAGEMENT),
  mail_not_configured: neverLogged(MANAGEMENT),
  mode_unsupported: neverLogged(MANAGEMENT),
  too_many_attempts: neverLogged(MANAGEMENT),
  too_many_streams: neverLogged(MANAGEMENT),
  not_implemented: neverLogged(MANAGEMENT),
};

const STATUS = /^upstream_status_(\d{3})$/;

/** The remedy of any cause that the ledger has, also of one that a newer version wrote. */
export function remedyOf(errorCode: string): Remedy {
  const known = Object.entries(remedies).find(([code]) => code === errorCode)?.[1];
  if (known !== undefined) return known;
  const status = STATUS.exec(errorCode)?.[1];
  if (status !== undefined) return remedyOfStatus(Number(status));
  if (errorCode === 'upstream_error_frame')
    return mended(
      'endpoint',
      (of) => `${named('Provider', of.provider)} sent an error inside a stream.`,
      'test_provider',
    );
  if (errorCode === 'gateway_lost')
    return mended('nothing', () => 'A Relay process died before these requests ended.', 'check_deployment');
  return unmended('The requests failed for a reason that this version does not know.', GONE);
}

/** What a provider answered and Relay passed on. */
function remedyOfStatus(status: number): Remedy {
  const returned = (of: Involved) => `${named('Provider', of.provider)} returned ${status}`;
  if (status === 429)
    return mended(
      'endpoint',
      (of) => `${returned(of)} (rate limit), and no other candidate responded.`,
      'add_candidate',
      'test_provider',
    );
  if (status === 404)
    return mended('endpoint', (of) => `${returned(of)}: it has no such model or path.`, 'edit_endpoint');
  if (status < 500 && status !== 408 && status !== 409 && status !== 425)
    return {
      blames: 'endpoint',
      says: (of) => `${returned(of)} and rejected the request.`,
      actions: [],
      none: CLIENTS,
    };
  return mended(
    'endpoint',
    (of) => `${returned(of)}, and no other candidate responded.`,
    'test_provider',
    'add_candidate',
  );
}
