import { type ErrorCode, errors } from '@relay/contract';

/** What happens when most requests of a lane and a gateway end in one way. */
type Told =
  /** Alerts that count results fire: the provider, the configuration or Relay failed. */
  | 'failed'
  | 'throttled'
  | 'limited'
  /** These fire because only one of two gateways refuses. */
  | 'refused by one'
  /** Nothing fires, for this reason. */
  | { readonly silent: string };

const OWN = { silent: 'the client sends something else, or nothing changes' } as const;
const MANAGEMENT = { silent: 'no request to /v1 ends with it' } as const;
const OWN_LIMIT = {
  silent: 'a limit of a key, member or team does its work; Relay’s own alerts tell its owner',
};

/** Every code that Relay returns. The types reject a code that is missing. */
const byCode: Record<ErrorCode, Told> = {
  invalid_json: OWN,
  invalid_request: OWN,
  model_not_found: 'refused by one',
  no_route: 'failed',
  unpriced: 'failed',
  unbounded_request: 'failed',
  guardrail_streaming_unsupported: OWN,
  guardrail_route_kind_unsupported: OWN,
  not_found: OWN,
  route_not_found: OWN,
  request_timeout: OWN,
  method_not_allowed: OWN,
  upgrade_required: MANAGEMENT,
  conflict: MANAGEMENT,
  name_taken: MANAGEMENT,
  managed_by_file: MANAGEMENT,
  idempotency_conflict: MANAGEMENT,
  secret_already_shown: MANAGEMENT,
  version_conflict: MANAGEMENT,
  body_too_large: OWN,
  unsupported_media_type: OWN,
  missing_api_key: OWN,
  invalid_api_key: 'refused by one',
  expired_api_key: OWN,
  revoked_api_key: OWN,
  invalid_credentials: MANAGEMENT,
  totp_required: MANAGEMENT,
  session_expired: MANAGEMENT,
  invalid_context: 'failed',
  csrf_failed: MANAGEMENT,
  insufficient_scope: OWN,
  permission_denied: 'failed',
  product_access_denied: 'failed',
  entitlement_missing: 'failed',
  accounts_disabled: MANAGEMENT,
  mail_not_configured: MANAGEMENT,
  mode_unsupported: MANAGEMENT,
  content_policy_violation: { silent: 'RelayGuardrailBlocking counts verdicts, not responses' },
  rate_limit_wait_budget_exceeded: 'limited',
  budget_exhausted: 'limited',
  request_exceeds_limit: { silent: 'the request is larger than a limit; the client sends a smaller one' },
  too_many_attempts: MANAGEMENT,
  queue_full: 'limited',
  too_many_streams: MANAGEMENT,
  upstream_unreachable: 'failed',
  upstream_timeout: 'failed',
  upstream_invalid_response: 'failed',
  upstream_not_prepared: 'failed',
  upstream_credential_refused: 'failed',
  upstream_redirected: 'failed',
  stream_interrupted: 'failed',
  guardrail_unavailable: 'failed',
  internal_error: 'failed',
  not_implemented: 'failed',
  policy_unavailable: 'failed',
  metering_unavailable: 'failed',
  store_unavailable: 'failed',
  configuration_unavailable: 'failed',
  draining: 'failed',
};

export interface TerminalCause {
  readonly name: string;
  readonly cause: string;
  /** Status class of the response. */
  readonly status: string;
  readonly result: 'failed' | 'throttled' | 'limited' | 'client';
  /** All alerts that fire. */
  readonly fires: readonly string[];
  /** Another gateway serves meanwhile. */
  readonly hasSibling: boolean;
}

const FIRES = {
  failed: ['RelayGatewayFailing', 'RelayLaneFailing', 'RelayLaneUnserved'],
  throttled: ['RelayGatewayFailing', 'RelayLaneFailing', 'RelayLaneUnserved'],
  limited: ['RelayLaneUnserved'],
} as const;
const BURN = ['RelayAvailabilityFastBurn', 'RelayAvailabilitySlowBurn'];

/** Every way in which a request can end without being served: the codes, and the causes that only the ledger has. */
export function terminalCauses(): TerminalCause[] {
  const codes = Object.entries(byCode).flatMap(([code, told]) => {
    const { status } = errors[code as ErrorCode];
    // The stream has begun with 200.
    const statusClass = code === 'stream_interrupted' ? '2xx' : `${Math.floor(status / 100)}xx`;
    return causeOf({ name: code, cause: code, status: statusClass }, told);
  });
  return [
    ...codes,
    ...causeOf(
      { name: 'a limit of the key', cause: 'rate_limit_wait_budget_exceeded', status: '4xx' },
      OWN_LIMIT,
    ),
    ...causeOf(
      { name: 'a provider’s pause', cause: 'rate_limit_wait_budget_exceeded', status: '4xx' },
      'throttled',
    ),
    ...causeOf({ name: 'a provider’s 429', cause: 'upstream_status_429', status: '4xx' }, 'throttled'),
    ...causeOf({ name: 'a provider’s 404', cause: 'upstream_status_404', status: '4xx' }, 'failed'),
    ...causeOf({ name: 'a provider’s 422', cause: 'upstream_status_4xx', status: '4xx' }, OWN),
    ...causeOf({ name: 'a provider’s 500', cause: 'upstream_status_5xx', status: '5xx' }, 'failed'),
    ...causeOf({ name: 'an error in a stream', cause: 'upstream_error_frame', status: '2xx' }, 'failed'),
    ...causeOf(
      { name: 'a client that leaves', cause: 'client_disconnected', status: 'none' },
      { silent: 'clients may leave; RelayEndpointSilent fires when they leave because nothing comes' },
    ),
  ];
}

function causeOf(of: Pick<TerminalCause, 'name' | 'cause' | 'status'>, told: Told): TerminalCause[] {
  if (typeof told === 'object') return [{ ...of, result: 'client', fires: [], hasSibling: false }];
  if (told === 'refused by one')
    return [
      { ...of, result: 'client', fires: ['RelayGatewayRefusing'], hasSibling: true },
      // At every gateway alike, an unknown key fires; an unknown model is what clients ask for.
      {
        ...of,
        name: `${of.name} everywhere`,
        result: 'client',
        fires: of.cause === 'invalid_api_key' ? ['RelayKeysRejected'] : [],
        hasSibling: false,
      },
    ];
  const fires = [...(of.status === '5xx' ? BURN : []), ...FIRES[told]];
  return [{ ...of, result: told, fires, hasSibling: false }];
}

const MINUTES = 30;
const AT_MINUTE = 25;
const PER_MINUTE = 60;

/** A file for `promtool test rules`: for each cause a deployment in which 19 of 20 requests end with it, and exactly its alerts. */
export function terminalCauseTests(rulesFile: string): string {
  const tests = terminalCauses().map((each) => ({
    name: each.name,
    interval: '1m',
    input_series: seriesOf(each),
    promql_expr_test: [
      {
        expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: `${AT_MINUTE}m`,
        exp_samples: each.fires.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
      },
    ],
  }));
  // JSON is YAML.
  return JSON.stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests });
}

function seriesOf({
  cause,
  result,
  status,
  hasSibling,
}: TerminalCause): { series: string; values: string }[] {
  const most = Math.round(PER_MINUTE * 0.95);
  const series = (
    name: string,
    labels: Record<string, string>,
    perMinute: number,
    instance = 'gateway:8080',
  ) => {
    const all = Object.entries({ ...labels, instance, job: 'relay' });
    const text = all.map(([label, value]) => `${label}="${value}"`).join(', ');
    return { series: `${name}{${text}}`, values: `0+${perMinute}x${MINUTES}` };
  };
  const lane = '0190a5d0';
  return [
    {
      series: 'relay_info{version="1", role="all", mode="self_hosted", job="relay"}',
      values: `1+0x${MINUTES}`,
    },
    series('relay_ledger_rows_total', {}, PER_MINUTE),
    series('relay_http_requests_total', { plane: 'inference', status }, most),
    series('relay_inference_results_total', { result, cause }, most),
    series('relay_lane_results_total', { lane, result }, most),
    series('relay_inference_results_total', { result: 'served', cause: 'none' }, PER_MINUTE - most),
    series('relay_lane_results_total', { lane, result: 'served' }, PER_MINUTE - most),
    // Not twice the same series.
    ...(status === '2xx'
      ? []
      : [series('relay_http_requests_total', { plane: 'inference', status: '2xx' }, PER_MINUTE - most)]),
    ...(hasSibling
      ? [
          series(
            'relay_inference_results_total',
            { result: 'served', cause: 'none' },
            PER_MINUTE,
            'gateway2:8080',
          ),
        ]
      : []),
  ];
}
