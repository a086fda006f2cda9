import type { Clock } from '../kit/clock.ts';
import { createMetrics, type Labels, type Metrics, type Reading } from '../kit/metrics.ts';
import type { TraceExportState } from '../kit/tracing/trace-exporter.ts';
import type { Backlog } from '../metering/backlog.ts';
import type { LedgerWorker } from '../metering/ledger-worker.ts';
import type { Reconciliation } from '../metering/reconcile.ts';
import type { SinkFollower, SinkState } from '../metering/sinks/follow-ledger.ts';
import type { Snapshots } from '../store/configuration/snapshots.ts';
import type { Redis } from '../store/redis/redis.ts';
import type { StoreFaults } from '../store/store-health.ts';
import type { Measurements } from './measurements.ts';
import { type MetricName, metricNames, metricTable } from './metric-table.ts';
import type { RunningAdmission } from './start-admission.ts';
import type { ClockWatch } from './watch-clocks.ts';

/** What the metrics read of a process with the metering role. */
export interface RunningMetering {
  readonly worker: Pick<LedgerWorker, 'counts'>;
  readonly reconciliation: Pick<Reconciliation, 'state'>;
  readonly followers: readonly Pick<SinkFollower, 'name' | 'state'>[];
}

export interface MetricSources {
  readonly info: { readonly version: string; readonly role: string; readonly mode: string };
  readonly measurements: Measurements;
  readonly admission: Pick<RunningAdmission, 'counts' | 'spoolState' | 'health' | 'setAside'>;
  readonly snapshots: Pick<Snapshots, 'state' | 'get'>;
  /** Null with embedded stores. */
  readonly redis: Pick<Redis, 'state'> | null;
  readonly keysHeld: () => number;
  /** Null in a process without the metering role, and before metering starts. */
  readonly metering: () => RunningMetering | null;
  /** Null while tracing is off. */
  readonly traces: (() => TraceExportState) | null;
  readonly storeFaults: () => StoreFaults;
  readonly backlog: Pick<Backlog, 'state' | 'workers'>;
  readonly clocks: ClockWatch;
  readonly clock: Clock;
}

type Readings = Readonly<Record<MetricName, () => Reading>>;

/** Registers a reading for every metric of the table. */
export function createServerMetrics(sources: MetricSources): Metrics {
  const metrics = createMetrics({ processMetrics: true });
  const readings: Readings = {
    ...readingsOfTraffic(sources),
    ...readingsOfHealth(sources),
    ...readingsOfStores(sources),
    ...readingsOfMetering(sources),
    ...readingsOfSinks(sources),
    ...readingsOfTraces(sources),
    ...readingsOfGenAi(sources),
  };
  for (const name of metricNames) metrics.register(name, metricTable[name], readings[name]);
  return metrics;
}

function readingsOfTraffic({ info, measurements, admission }: MetricSources) {
  return {
    relay_info: () => [[info, 1]],
    relay_http_requests_total: measurements.answers,
    relay_inference_requests_total: measurements.requests,
    relay_inference_results_total: measurements.byCause,
    // The lanes of many organizations say nothing to who runs the deployment.
    relay_lane_results_total: info.mode === 'hosted' ? () => [] : measurements.byLane,
    relay_inference_open: measurements.openInference,
    relay_inference_waiting: () => admission.counts().waiting,
    relay_inference_dispatched: () => admission.counts().dispatched,
    relay_wait_seconds: () => measurements.waits,
    relay_first_byte_seconds: () => measurements.firstBytes,
    relay_upstream_first_byte_seconds: () => measurements.upstreamFirstBytes,
    relay_overhead_seconds: () => measurements.overheads,
    relay_latency_seconds: () => measurements.latencies,
    relay_time_to_first_token_seconds: () => measurements.firstTokens,
    // Of many organizations, the tightest would be others at each look, and ids that say nothing to who runs the deployment.
    relay_limit_headroom_ratio: info.mode === 'hosted' ? () => [] : measurements.headroom.tightest,
    relay_limit_headroom_lowest_ratio: measurements.headroom.lowest,
    relay_admission_seconds: () => measurements.admissions,
    relay_admission_failures_total: measurements.admissionFailures,
    relay_usage_bounded_total: measurements.boundedUsage,
    relay_set_aside_total: () =>
      Object.entries(admission.setAside()).map(([kind, count]) => [{ kind }, count]),
    relay_guardrail_verdicts_total: measurements.guardrailVerdicts,
    relay_guardrail_pre_dispatch_seconds: () => measurements.guardrailTimes.pre_dispatch,
    relay_guardrail_post_response_seconds: () => measurements.guardrailTimes.post_response,
  } satisfies Partial<Readings>;
}

function readingsOfHealth({ admission, measurements, snapshots }: MetricSources) {
  const counts = () => admission.health.counts(snapshots.get);
  const silent = (figure: 'unanswered' | 'silentMs', unit: number) =>
    measurements.silence
      .silent()
      .map((each): [Labels, number] => [{ endpoint: each.endpointId }, each[figure] / unit]);
  return {
    relay_endpoint_silent_seconds: () => silent('silentMs', 1_000),
    relay_endpoint_unanswered: () => silent('unanswered', 1),
    relay_endpoint_health: () =>
      counts().unwell.map(({ endpointId, health }) => [{ endpoint: endpointId, health }, 1]),
    relay_breakers_open: () => Object.entries(counts().open).map(([kind, count]) => [{ kind }, count]),
    relay_breaker_transitions_total: () =>
      Object.entries(counts().transitions).flatMap(([kind, moves]) =>
        Object.entries(moves).map(([transition, count]) => [{ kind, transition }, count] as const),
      ),
    relay_breaker_probes_total: () =>
      Object.entries(counts().probes).map(([result, count]) => [{ result }, count]),
  } satisfies Partial<Readings>;
}

function readingsOfStores(sources: MetricSources) {
  const { redis, measurements, snapshots, clock, clocks, keysHeld, storeFaults } = sources;
  return {
    relay_redis_script_seconds: () => (redis === null ? null : measurements.scriptTimes),
    relay_redis_shard_script_seconds: measurements.slowestShards,
    relay_store_up: () =>
      Object.entries(storeFaults()).map(([store, fault]) => [{ store }, Number(fault === null)]),
    // A store that cannot be read accepts no writes either.
    relay_store_operation_up: () =>
      Object.entries(storeFaults()).flatMap(([store, fault]) => [
        [{ store, operation: 'read' }, Number(fault?.operation !== 'read')] as const,
        [{ store, operation: 'write' }, Number(fault === null)] as const,
      ]),
    relay_redis_breaker: () =>
      redis === null
        ? null
        : ['closed', 'open', 'half_open'].map((state) => [
            { state },
            Number(redis.state().breaker === state),
          ]),
    relay_clock_ahead_seconds: () =>
      Object.entries(clocks.health().ahead_ms).map(([store, aheadMs]) => [{ store }, aheadMs / 1_000]),
    relay_configuration_age_seconds: () => {
      const { lastPollOkAtMs } = snapshots.state();
      return lastPollOkAtMs === null ? null : Math.max(0, clock.nowMs() - lastPollOkAtMs) / 1_000;
    },
    relay_snapshots_loaded: () => snapshots.state().loaded,
    relay_snapshots_stale: () => snapshots.state().stale,
    relay_keys_held: keysHeld,
  } satisfies Partial<Readings>;
}

function readingsOfMetering({ admission, metering, backlog: { state: backlog, workers } }: MetricSources) {
  const reconciliation = () => {
    const state = metering()?.reconciliation.state();
    return state === undefined || state.finishedAtMs === null ? null : state;
  };
  return {
    relay_usage_unsent_records: () => admission.counts().unsent,
    relay_spool_entries: () => admission.spoolState().waiting,
    relay_spool_bytes: () => admission.spoolState().bytes,
    relay_spool_dropped_total: () => admission.spoolState().dropped,
    relay_usage_stream_entries: () => backlog()?.entries ?? null,
    relay_usage_stream_taken_entries: () => backlog()?.taken ?? null,
    relay_ledger_lag_seconds: () => {
      const state = backlog();
      return state === null ? null : state.lagMs / 1_000;
    },
    relay_ledger_workers: workers,
    relay_ledger_rows_total: () => metering()?.worker.counts().rows ?? null,
    relay_ledger_poisoned_total: () => metering()?.worker.counts().poisoned ?? null,
    relay_reconciliation_windows: () => {
      const state = reconciliation();
      if (state === null) return null;
      const { checked, unsettled, drift } = state;
      return Object.entries({ checked, unsettled, drifted: drift }).map(([result, count]) => [
        { result },
        count,
      ]);
    },
    relay_reconciliation_unsettled_seconds: () => {
      const state = reconciliation();
      return state === null ? null : state.unsettledMs / 1_000;
    },
    relay_reconciliation_corrections_total: () => metering()?.reconciliation.state().corrected ?? null,
    relay_reconciliation_drift_ratio: () => reconciliation()?.driftRatioMax ?? null,
    relay_reconciliation_run_timestamp_seconds: () => {
      const state = reconciliation();
      return state === null ? null : (state.finishedAtMs ?? 0) / 1_000;
    },
  } satisfies Partial<Readings>;
}

function readingsOfSinks({ metering }: MetricSources) {
  /** No reading for a sink that the database said nothing about. */
  const each = (read: (state: SinkState) => number | null): Reading =>
    (metering()?.followers ?? []).flatMap(({ name, state }) => {
      const value = read(state());
      return value === null ? [] : [[{ sink: name }, value] as const];
    });
  return {
    relay_sink_waiting_batches: () => each(({ backlog }) => backlog?.batches ?? null),
    relay_sink_lag_seconds: () => each(({ backlog }) => (backlog === null ? null : backlog.oldestMs / 1_000)),
    relay_sink_rows_total: () => each(({ rows }) => rows),
    relay_sink_failures_total: () => each(({ failures }) => failures),
  } satisfies Partial<Readings>;
}

function readingsOfTraces({ traces }: MetricSources) {
  return {
    relay_trace_spans_total: () => {
      if (traces === null) return null;
      const { queued: _, ...results } = traces();
      return Object.entries(results).map(([result, count]) => [{ result }, count]);
    },
    relay_trace_queue_spans: () => traces?.().queued ?? null,
  } satisfies Partial<Readings>;
}

function readingsOfGenAi({ measurements: { genAi } }: MetricSources) {
  return {
    gen_ai_client_operation_duration_seconds: genAi.operationDurations,
    gen_ai_client_token_usage: genAi.tokenUsage,
    gen_ai_server_request_duration_seconds: genAi.requestDurations,
    gen_ai_server_time_to_first_token_seconds: genAi.firstTokens,
  } satisfies Partial<Readings>;
}
