import type { MetricDefinition } from '../kit/metrics.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
/** As OpenTelemetry's conventions ask for. */
const GEN_AI_SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
const GEN_AI_FIRST_SECONDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];
const GEN_AI_TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);
const GEN_AI_LABELS = ['gen_ai_operation_name', 'gen_ai_provider_name'] as const;
const SHORT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

/**
 * Every metric that Relay defines. The reference page is generated from this table. Labels have few values, known in
 * advance: never an organization, key, user or model. Names that start with `gen_ai_` are OpenTelemetry's, of the version that
 * `kit/tracing/otlp.ts` pins.
 */
export const metricTable = {
  relay_info: {
    kind: 'gauge',
    labels: ['version', 'role', 'mode'],
    help: 'Always 1; its labels describe this process.',
  },
  relay_http_requests_total: {
    kind: 'counter',
    labels: ['plane', 'status'],
    help: 'Responses, by plane and status class; `none` when the client disconnected first. Excludes health checks.',
  },
  relay_inference_requests_total: {
    kind: 'counter',
    labels: ['operation', 'state'],
    help: 'Finished inference requests, by state.',
  },
  relay_inference_results_total: {
    kind: 'counter',
    labels: ['result', 'cause'],
    help: 'Inference requests by how they ended: `served`, `failed`, `throttled` (the provider asked for a pause), `limited` (a shared limit or a full queue) or `client` (its own doing, which includes limits of its key, member or team); the cause is the error code, or `none`.',
  },
  relay_lane_results_total: {
    kind: 'counter',
    labels: ['lane', 'result'],
    help: 'Inference requests by lane ID and result, for the first 50 lanes that this process met; `other` counts further ones, and `none` requests without a lane. Self-hosted only.',
  },
  relay_inference_open: { kind: 'gauge', help: 'Requests to /v1 in flight or waiting.' },
  relay_inference_waiting: { kind: 'gauge', help: 'Requests that wait for capacity.' },
  relay_inference_dispatched: { kind: 'gauge', help: 'Requests in flight at a provider.' },
  relay_wait_seconds: {
    kind: 'histogram',
    bounds: SECONDS,
    help: 'Time that inference requests waited for capacity.',
  },
  relay_first_byte_seconds: {
    kind: 'histogram',
    bounds: SECONDS,
    help: 'From the arrival of an inference request to the first byte of its response.',
  },
  relay_upstream_first_byte_seconds: {
    kind: 'histogram',
    bounds: SECONDS,
    help: 'From the dispatch of the last attempt to the first byte from the provider.',
  },
  relay_overhead_seconds: {
    kind: 'histogram',
    bounds: SHORT_SECONDS,
    help: 'Gateway overhead: the time of an inference request up to the first byte of its response, excluding the wait for capacity, the provider and guardrails.',
  },
  relay_latency_seconds: {
    kind: 'histogram',
    bounds: SECONDS,
    help: 'From the arrival of an inference request to its end, including the wait.',
  },
  relay_time_to_first_token_seconds: {
    kind: 'histogram',
    bounds: SECONDS,
    help: 'From the arrival of a streaming request to its first content. Streams with content only.',
  },
  relay_limit_headroom_ratio: {
    kind: 'gauge',
    labels: ['policy', 'metric', 'period'],
    help: 'Remaining share of a limit, 0 to 1, by limit ID: the 50 tightest that this process used. Excludes member and key limits. Self-hosted only.',
  },
  relay_limit_headroom_lowest_ratio: {
    kind: 'gauge',
    labels: ['kind'],
    help: 'The lowest remaining share among the limits of a kind that this process used: `resource`, `team`, `user` or `api_key`.',
  },
  relay_admission_seconds: {
    kind: 'histogram',
    bounds: SHORT_SECONDS,
    help: 'Round trip of one admission check in Redis.',
  },
  relay_admission_failures_total: {
    kind: 'counter',
    help: 'Failed admission checks.',
  },
  relay_usage_bounded_total: {
    kind: 'counter',
    help: 'Requests whose provider reported an implausible number of tokens, or more than a hard limit had reserved. Relay caps the charge for an implausible report and charges a report over a reservation in full; the request keeps the report, and the log names the endpoint.',
  },
  relay_set_aside_total: {
    kind: 'counter',
    labels: ['kind'],
    help: 'Stored entries that Relay could not read, by kind: `lease`, `line` (a queue position) or `report` (live traffic). Relay skips and logs them; other entries are not affected.',
  },
  relay_guardrail_verdicts_total: {
    kind: 'counter',
    labels: ['stage', 'verdict', 'cause'],
    help: 'Guardrail verdicts on finished inference requests; the cause is `none` unless a guardrail was unavailable.',
  },
  relay_guardrail_pre_dispatch_seconds: {
    kind: 'histogram',
    bounds: SECONDS,
    help: 'Duration of one guardrail check of a prompt.',
  },
  relay_guardrail_post_response_seconds: {
    kind: 'histogram',
    bounds: SECONDS,
    help: 'Duration of one guardrail check of a response.',
  },
  relay_endpoint_health: {
    kind: 'gauge',
    labels: ['endpoint', 'health'],
    help: '1 for each endpoint, by ID, that this process knows to be down, degraded or rate-limited. At most 200, down ones first.',
  },
  relay_endpoint_silent_seconds: {
    kind: 'gauge',
    labels: ['endpoint'],
    help: 'Time since an endpoint, by ID, last began a response while requests wait for one: the 50 longest that this process knows, from 10 s.',
  },
  relay_endpoint_unanswered: {
    kind: 'gauge',
    labels: ['endpoint'],
    help: 'Requests in flight at a silent endpoint, by ID, without a first byte.',
  },
  relay_breakers_open: {
    kind: 'gauge',
    labels: ['kind'],
    help: 'Endpoints and credentials that this process knows to be down. Processes share this state: use the maximum, not the sum.',
  },
  relay_breaker_transitions_total: {
    kind: 'counter',
    labels: ['kind', 'transition'],
    help: 'Endpoints and credentials that went down or came back, counted by the process whose request caused it.',
  },
  relay_breaker_probes_total: {
    kind: 'counter',
    labels: ['result'],
    help: 'Test requests to endpoints that are down, by result.',
  },
  relay_store_up: {
    kind: 'gauge',
    labels: ['store'],
    help: '1 while the store answers and accepts what Relay writes to it. `/healthz` has the reason when it does not.',
  },
  relay_store_operation_up: {
    kind: 'gauge',
    labels: ['store', 'operation'],
    help: 'The halves of `relay_store_up`: `read`, 0 while the store cannot be reached or read, and `write`, 0 while it rejects writes.',
  },
  relay_redis_breaker: {
    kind: 'gauge',
    labels: ['state'],
    help: '1 for the current state of the circuit breaker for Redis, 0 for the others.',
  },
  relay_redis_script_seconds: {
    kind: 'histogram',
    bounds: SHORT_SECONDS,
    help: 'Round trip of one admission script call in Redis. One call can cover many requests.',
  },
  relay_redis_shard_script_seconds: {
    kind: 'gauge',
    labels: ['shard'],
    help: 'Moving average of the round trips of admission scripts, for the 20 slowest shards of the last minute; `shard` is as in Redis keys.',
  },
  relay_clock_ahead_seconds: {
    kind: 'gauge',
    labels: ['store'],
    help: 'How far this machine’s clock is ahead of a store’s clock; negative when it is behind.',
  },
  relay_configuration_age_seconds: {
    kind: 'gauge',
    help: 'Time since the configuration was last known to be current.',
  },
  relay_snapshots_loaded: { kind: 'gauge', help: 'Organizations whose configuration is in memory.' },
  relay_snapshots_stale: {
    kind: 'gauge',
    help: 'Organizations in memory whose newer configuration this process has not read yet.',
  },
  relay_keys_held: { kind: 'gauge', help: 'API keys in memory.' },
  relay_usage_unsent_records: { kind: 'gauge', help: 'Records in memory on their way to Redis.' },
  relay_spool_entries: {
    kind: 'gauge',
    help: 'Usage records on disk or in memory that are not in Redis yet.',
  },
  relay_spool_bytes: { kind: 'gauge', help: 'Size of the spool on disk.' },
  relay_spool_dropped_total: { kind: 'counter', help: 'Usage records lost for lack of spool space.' },
  relay_usage_stream_entries: {
    kind: 'gauge',
    help: 'Entries of the usage streams that are not in the ledger yet; an entry has one or more requests. For the whole deployment, reported by every process; absent while it is not known.',
  },
  relay_usage_stream_taken_entries: {
    kind: 'gauge',
    help: 'Entries of the usage streams that a worker has taken and not written yet.',
  },
  relay_ledger_lag_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest entry that is not in the ledger yet. For the whole deployment, reported by every process, also while no worker runs; absent while it is not known.',
  },
  relay_ledger_workers: {
    kind: 'gauge',
    help: 'Workers of the whole deployment that have read the usage streams in the last 20 seconds. Reported by every process; absent while it is not known.',
  },
  relay_ledger_rows_total: { kind: 'counter', help: 'Rows that this worker has written to the ledger.' },
  relay_ledger_poisoned_total: {
    kind: 'counter',
    help: 'Records that the ledger rejected. Relay keeps them for `relay usage replay`.',
  },
  relay_sink_waiting_batches: {
    kind: 'gauge',
    labels: ['sink'],
    help: 'Batches of the ledger that the sink has not written yet, counted up to 1,000. For the whole deployment, reported by workers.',
  },
  relay_sink_lag_seconds: {
    kind: 'gauge',
    labels: ['sink'],
    help: 'Age of the oldest batch that the sink has not written yet.',
  },
  relay_sink_rows_total: {
    kind: 'counter',
    labels: ['sink'],
    help: 'Rows that this worker has written to the sink.',
  },
  relay_sink_failures_total: {
    kind: 'counter',
    labels: ['sink'],
    help: 'Failed attempts by this worker to write to the sink.',
  },
  relay_reconciliation_windows: {
    kind: 'gauge',
    labels: ['result'],
    help: 'Limit windows compared with the ledger in the last run: `checked`, `unsettled`, and `drifted` (different, and not corrected).',
  },
  relay_reconciliation_unsettled_seconds: {
    kind: 'gauge',
    help: 'How long the oldest limit window could not be compared with the ledger, because its organization was never idle.',
  },
  relay_reconciliation_corrections_total: {
    kind: 'counter',
    help: 'Limit counters that this worker corrected to match the ledger. Each is in the log.',
  },
  relay_reconciliation_drift_ratio: {
    kind: 'gauge',
    help: 'The largest difference between a limit’s count and the ledger, as a share of the ledger’s value.',
  },
  relay_reconciliation_run_timestamp_seconds: {
    kind: 'gauge',
    help: 'When this worker last compared limits with the ledger.',
  },
  relay_trace_spans_total: {
    kind: 'counter',
    labels: ['result'],
    help: 'Trace spans: `exported`, `dropped` because the queue was full, or `failed` because the export failed. Only while tracing is on.',
  },
  relay_trace_queue_spans: { kind: 'gauge', help: 'Spans waiting to be exported. Only while tracing is on.' },
  gen_ai_client_operation_duration_seconds: {
    kind: 'histogram',
    bounds: GEN_AI_SECONDS,
    labels: [...GEN_AI_LABELS, 'error_type'],
    help: 'OpenTelemetry `gen_ai.client.operation.duration`: the last attempt at a provider. `error_type` is absent for a success.',
  },
  gen_ai_client_token_usage: {
    kind: 'histogram',
    bounds: GEN_AI_TOKENS,
    labels: [...GEN_AI_LABELS, 'gen_ai_token_type'],
    help: 'OpenTelemetry `gen_ai.client.token.usage`: tokens that the provider reported for a request, `input` or `output`.',
  },
  gen_ai_server_request_duration_seconds: {
    kind: 'histogram',
    bounds: GEN_AI_SECONDS,
    labels: GEN_AI_LABELS,
    help: 'OpenTelemetry `gen_ai.server.request.duration`: requests that reached a provider, as clients saw them.',
  },
  gen_ai_server_time_to_first_token_seconds: {
    kind: 'histogram',
    bounds: GEN_AI_FIRST_SECONDS,
    labels: GEN_AI_LABELS,
    help: 'OpenTelemetry `gen_ai.server.time_to_first_token`: completed streams, as clients saw them.',
  },
} as const satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof metricTable;

export const metricNames: readonly MetricName[] = Object.keys(metricTable).filter(isMetricName);

function isMetricName(name: string): name is MetricName {
  return Object.hasOwn(metricTable, name);
}
