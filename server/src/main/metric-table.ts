import type { MetricDefinition } from '../kit/metrics.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const SHORT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

/**
 * Every metric that Relay defines. The reference page is generated from this table. Labels have few values, known in
 * advance: never an organization, key, user or model.
 */
export const metricTable = {
  relay_info: { kind: 'gauge', labels: ['version', 'role', 'mode'], help: 'Always 1; says what runs here.' },
  relay_http_requests_total: {
    kind: 'counter',
    labels: ['plane', 'status'],
    help: 'Answers, by plane and class of status; none when the client left before any. Without probes.',
  },
  relay_inference_requests_total: {
    kind: 'counter',
    labels: ['operation', 'state'],
    help: 'Inference requests that have ended, by how.',
  },
  relay_inference_open: { kind: 'gauge', help: 'Requests below /v1 that are being served.' },
  relay_inference_waiting: { kind: 'gauge', help: 'Requests that wait for capacity.' },
  relay_inference_dispatched: { kind: 'gauge', help: 'Requests that are at a provider.' },
  relay_wait_seconds: {
    kind: 'histogram',
    bounds: SECONDS,
    help: 'How long inference requests have waited for capacity.',
  },
  relay_first_byte_seconds: {
    kind: 'histogram',
    bounds: SECONDS,
    help: 'From the arrival of an inference request to the first byte of its answer.',
  },
  relay_upstream_first_byte_seconds: {
    kind: 'histogram',
    bounds: SECONDS,
    help: 'From the dispatch of the last attempt to the first byte from the provider.',
  },
  relay_admission_seconds: {
    kind: 'histogram',
    bounds: SHORT_SECONDS,
    help: 'One question to the limits engine in Redis, there and back.',
  },
  relay_admission_failures_total: {
    kind: 'counter',
    help: 'Questions to the limits engine that were not answered.',
  },
  relay_usage_bounded_total: {
    kind: 'counter',
    help: 'Requests whose provider reported more tokens than can be true. Less was charged, the request keeps the report, and the log names the endpoint.',
  },
  relay_set_aside_total: {
    kind: 'counter',
    labels: ['kind'],
    help: 'What was stored and could not be read, by what it was: a lease, a line, or a report of live traffic. It is left out and the log says which; the others are not affected.',
  },
  relay_guardrail_verdicts_total: {
    kind: 'counter',
    labels: ['stage', 'verdict', 'cause'],
    help: 'What guardrails said of inference requests that have ended; the cause is none unless they were unavailable.',
  },
  relay_guardrail_pre_dispatch_seconds: {
    kind: 'histogram',
    bounds: SECONDS,
    help: 'How long one guardrail took over a request.',
  },
  relay_guardrail_post_response_seconds: {
    kind: 'histogram',
    bounds: SECONDS,
    help: 'How long one guardrail took over an answer.',
  },
  relay_endpoint_health: {
    kind: 'gauge',
    labels: ['endpoint', 'health'],
    help: '1 for each endpoint, by its id, that this process knows to be down, degraded or rate-limited; for at most 200, those that are down first.',
  },
  relay_breakers_open: {
    kind: 'gauge',
    labels: ['kind'],
    help: 'Endpoints and credentials that this process knows to be down. All processes of a deployment learn the same.',
  },
  relay_breaker_transitions_total: {
    kind: 'counter',
    labels: ['kind', 'transition'],
    help: 'Endpoints and credentials that went down or came back, counted by the process whose request decided it.',
  },
  relay_breaker_probes_total: {
    kind: 'counter',
    labels: ['result'],
    help: 'Requests that tried an endpoint that is down, by what became of them there.',
  },
  relay_store_up: { kind: 'gauge', labels: ['store'], help: '1 while the store answers.' },
  relay_redis_breaker: {
    kind: 'gauge',
    labels: ['state'],
    help: '1 for the state of the breaker before Redis, 0 for the others.',
  },
  relay_clock_ahead_seconds: {
    kind: 'gauge',
    labels: ['store'],
    help: 'How far the clock of this machine is ahead of that of a store; negative when it is behind.',
  },
  relay_configuration_age_seconds: {
    kind: 'gauge',
    help: 'Since the configuration was last known to be current.',
  },
  relay_snapshots_loaded: { kind: 'gauge', help: 'Organizations whose configuration is in memory.' },
  relay_snapshots_stale: {
    kind: 'gauge',
    help: 'Of these, those with a newer version that is not read yet.',
  },
  relay_keys_held: { kind: 'gauge', help: 'User API keys in memory.' },
  relay_usage_unsent_records: { kind: 'gauge', help: 'Records in memory on their way to Redis.' },
  relay_spool_entries: {
    kind: 'gauge',
    help: 'Usage that waits on disk or in memory because Redis has not taken it.',
  },
  relay_spool_bytes: { kind: 'gauge', help: 'What the spool holds on disk.' },
  relay_spool_dropped_total: { kind: 'counter', help: 'Usage that had no room in the spool and is lost.' },
  relay_usage_stream_entries: {
    kind: 'gauge',
    help: 'Entries of the usage streams that are not in the ledger yet; an entry has one or more requests. Of the whole deployment, told by workers.',
  },
  relay_usage_stream_taken_entries: {
    kind: 'gauge',
    help: 'Of these, those that a worker has taken and not written yet.',
  },
  relay_ledger_lag_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest entry that is not in the ledger yet.',
  },
  relay_ledger_rows_total: { kind: 'counter', help: 'Rows that this worker has written to the ledger.' },
  relay_ledger_poisoned_total: {
    kind: 'counter',
    help: 'Records that this worker could not make a row of. They are kept for `relay usage replay`.',
  },
  relay_sink_waiting_batches: {
    kind: 'gauge',
    labels: ['sink'],
    help: 'Batches of the ledger that the sink has not written yet, counted up to 1,000. Of the whole deployment, told by workers.',
  },
  relay_sink_lag_seconds: {
    kind: 'gauge',
    labels: ['sink'],
    help: 'Age of the oldest of these batches.',
  },
  relay_sink_rows_total: {
    kind: 'counter',
    labels: ['sink'],
    help: 'Rows that this worker has written to the sink.',
  },
  relay_sink_failures_total: {
    kind: 'counter',
    labels: ['sink'],
    help: 'Attempts of this worker to write to the sink that failed.',
  },
  relay_reconciliation_windows: {
    kind: 'gauge',
    labels: ['result'],
    help: 'Windows of limits compared with the ledger in the last run: checked, of these unsettled, and those that differed when they were last compared and could not be corrected.',
  },
  relay_reconciliation_corrections_total: {
    kind: 'counter',
    help: 'Counts of limits that this worker has corrected to what the ledger holds. Each is in the log.',
  },
  relay_reconciliation_drift_ratio: {
    kind: 'gauge',
    help: 'The largest of these differences as a share of what the ledger holds.',
  },
  relay_reconciliation_run_timestamp_seconds: {
    kind: 'gauge',
    help: 'When this worker last compared limits with the ledger.',
  },
} as const satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof metricTable;

export const metricNames: readonly MetricName[] = Object.keys(metricTable).filter(isMetricName);

function isMetricName(name: string): name is MetricName {
  return Object.hasOwn(metricTable, name);
}
