/** Whether health counts a failed request, and if not, why. */
export type FailureKind = 'counted' | 'client' | 'capacity';

const PROVIDER_STATUS = /^upstream_status_(4\d\d)$/;
/** The 4xx of a provider that say something about the endpoint. */
const ENDPOINTS_OWN = new Set(['401', '402', '403', '404', '407', '408']);
const CAPACITY = new Set([
  'upstream_status_429',
  'rate_limit_wait_budget_exceeded',
  'budget_exhausted',
  'request_exceeds_limit',
  'queue_full',
  'too_many_streams',
]);
const CLIENT = new Set([
  'invalid_json',
  'invalid_request',
  'body_too_large',
  'request_timeout',
  'unsupported_media_type',
  'model_not_found',
  'revoked_api_key',
  'insufficient_scope',
  'content_policy_violation',
  'client_disconnected',
]);

function kindOf(code: string | null): FailureKind {
  if (code === null) return 'counted';
  if (CAPACITY.has(code)) return 'capacity';
  if (CLIENT.has(code)) return 'client';
  const status = PROVIDER_STATUS.exec(code)?.[1];
  return status === undefined || ENDPOINTS_OWN.has(status) ? 'counted' : 'client';
}

interface ErrorCount {
  readonly error_code: string | null;
  readonly requests: number;
}

export interface KindOfFailure {
  readonly kind: FailureKind;
  readonly requests: number;
  /** The most frequent first. */
  readonly codes: readonly ErrorCount[];
}

/** Failed requests by whether health counts them; those without a known cause are counted. */
export function failuresByKind(failed: number, errors: readonly ErrorCount[]): readonly KindOfFailure[] {
  const byKind = Map.groupBy(errors, ({ error_code: code }) => kindOf(code));
  const ignored = (['client', 'capacity'] as const).map((kind) => partOf(kind, byKind.get(kind) ?? []));
  const left = failed - ignored.reduce((sum, { requests }) => sum + requests, 0);
  const counted = { ...partOf('counted', byKind.get('counted') ?? []), requests: Math.max(0, left) };
  return [counted, ...ignored].filter(({ requests }) => requests > 0);
}

function partOf(kind: FailureKind, codes: readonly ErrorCount[]): KindOfFailure {
  return { kind, codes, requests: codes.reduce((sum, { requests }) => sum + requests, 0) };
}
