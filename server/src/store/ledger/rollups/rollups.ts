import { addCounts, countDuration, type DurationCounts } from '../../../domain/histogram.ts';
import { uuidTimeMs } from '../../../kit/uuid-time.ts';
import { SUMMED_OPERATION } from '../../postgres/ledger-tables.ts';
import { attemptsOfRow, type SentAttempt } from '../attempts-of-row.ts';
import type { CountedRow, LedgerRow } from '../ledger-row.ts';
import { isFact } from '../request-facts.ts';
import type { RollupRow } from './add-rollups.ts';
import { type Bucket, bucketStart } from './bucket.ts';

/** A row that was inserted, or one that was removed because another replaced it. */
export interface LedgerChange {
  /** A removed row was an estimate, which has no limit and no trace. */
  readonly row: CountedRow & Partial<Pick<LedgerRow, 'bound_policy' | 'trace'>>;
  readonly times: 1 | -1;
}

type Dimensions = Pick<
  RollupRow,
  | 'family'
  | 'organization_id'
  | 'user_id'
  | 'key_id'
  | 'endpoint_id'
  | 'lane_id'
  | 'provider_id'
  | 'credential_id'
>;

type Counted = `${'wait' | 'latency' | 'ttft'}_${'bins' | 'counts'}`;
type Sums = Omit<RollupRow, Counted> & {
  readonly waits: Map<number, number>;
  readonly latencies: Map<number, number>;
  readonly ttfts: Map<number, number>;
};

/** Sums by bucket name; the names sort in locking order. */
type Groups = Map<string, Sums>;

/** Sums that grow with the changes they are given. */
export interface RollupSums {
  add(changes: Iterable<LedgerChange>): void;
  /**
   * The rollup changes so far: two families, three bucket sizes. Requests count at their arrival, attempts with their usage at their
   * dispatch. All writers use the same order, which prevents deadlocks; the most contended rollups, of days and resources, come last and are locked for the shortest time.
   */
  rollups(): RollupRow[];
}

export function createRollupSums(): RollupSums {
  const minutes: Groups = new Map();
  return {
    add(changes) {
      for (const { row, times } of changes) {
        const startMs = bucketStart('minute', uuidTimeMs(row.request_id));
        const attempts = attemptsOfRow(row);
        for (const family of ['caller', 'resource'] as const) {
          const dimensions = dimensionsOf(row, family);
          const group = groupIn(minutes, dimensions, 'minute', startMs);
          count(group, row, times);
          for (const attempt of attempts) {
            const atMs = bucketStart('minute', attempt.dispatched_ms);
            // Nearly all attempts are of the same minute and endpoint as their request.
            const own = atMs === startMs && isAtEndpointOf(attempt, row);
            countAttempt(
              own ? group : groupIn(minutes, targetOf(attempt, dimensions), 'minute', atMs),
              attempt,
              times,
            );
          }
        }
      }
    },
    rollups() {
      const hours = coarser(minutes, 'hour');
      return [minutes, hours, coarser(hours, 'day')].flatMap(inOrder);
    },
  };
}

/** The rollup changes that these ledger changes cause. */
export function rollupsOf(changes: Iterable<LedgerChange>): RollupRow[] {
  const sums = createRollupSums();
  sums.add(changes);
  return sums.rollups();
}

function dimensionsOf(row: CountedRow, family: RollupRow['family']): Dimensions {
  const { organization_id, endpoint_id, lane_id, provider_id } = row;
  const resource = { family, organization_id, endpoint_id, lane_id, provider_id };
  return family === 'caller'
    ? { ...resource, user_id: row.user_id, key_id: row.key_id, credential_id: null }
    : { ...resource, user_id: null, key_id: null, credential_id: row.credential_id };
}

function isAtEndpointOf(attempt: SentAttempt, row: CountedRow): boolean {
  return (
    attempt.endpoint_id === row.endpoint_id &&
    attempt.provider_id === row.provider_id &&
    attempt.credential_id === row.credential_id
  );
}

/** Returns the attempt's own dimensions within its request's family. */
function targetOf({ endpoint_id, provider_id, credential_id }: SentAttempt, of: Dimensions): Dimensions {
  const target = { ...of, endpoint_id, provider_id };
  return of.family === 'caller' ? target : { ...target, credential_id };
}

function inOrder(groups: Groups): RollupRow[] {
  return [...groups].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, sums]) => rollupOf(sums));
}

function rollupOf({ waits, latencies, ttfts, ...sums }: Sums): RollupRow {
  const [wait, latency] = [columnsOfCounts(waits), columnsOfCounts(latencies)];
  const ttft = columnsOfCounts(ttfts);
  return {
    ...sums,
    wait_bins: wait.bins,
    wait_counts: wait.counts,
    latency_bins: latency.bins,
    latency_counts: latency.counts,
    ttft_bins: ttft.bins,
    ttft_counts: ttft.counts,
  };
}

/** As two columns hold them: the bins in order, and the count of each. */
export function columnsOfCounts(counts: DurationCounts): { bins: number[]; counts: number[] } {
  const used = [...counts].filter(([, count]) => count !== 0).sort(([one], [other]) => one - other);
  return { bins: used.map(([bin]) => bin), counts: used.map(([, count]) => count) };
}

function groupIn(groups: Groups, of: Dimensions, bucket: Bucket, startMs: number): Sums {
  const name = `${of.family}${startMs}${of.organization_id}${of.user_id}${of.key_id}${of.endpoint_id}${of.lane_id}${of.provider_id}${of.credential_id}`;
  let group = groups.get(name);
  if (group === undefined) {
    group = nothing(of, bucket, startMs);
    groups.set(name, group);
  }
  return group;
}

function nothing(of: Dimensions, bucket: Bucket, startMs: number): Sums {
  return {
    family: of.family,
    bucket,
    bucket_start: new Date(startMs),
    organization_id: of.organization_id,
    user_id: of.user_id,
    key_id: of.key_id,
    endpoint_id: of.endpoint_id,
    lane_id: of.lane_id,
    provider_id: of.provider_id,
    credential_id: of.credential_id,
    requests_completed: 0,
    requests_failed: 0,
    requests_cancelled: 0,
    requests_metered: 0,
    requests_estimated: 0,
    requests_streaming: 0,
    requests_waited: 0,
    requests_embeddings: 0,
    fallbacks: 0,
    input_tokens: 0,
    cached_input_tokens: 0,
    output_tokens: 0,
    cost_micros: 0,
    cost_rounding_picos: 0,
    wait_ms_sum: 0,
    wait_ms_max: 0,
    latency_ms_sum: 0,
    ttft_ms_sum: 0,
    ttft_count: 0,
    further_attempts: 0,
    further_metered: 0,
    fallback_cost_micros: 0,
    fallback_cost_rounding_picos: 0,
    waits: new Map(),
    latencies: new Map(),
    ttfts: new Map(),
  };
}

function count(sums: Sums, row: LedgerChange['row'], times: 1 | -1): void {
  sums[`requests_${row.state}`] += times;
  if (row.streaming) sums.requests_streaming += times;
  if (row.state === 'completed' && isFact('waited', row)) sums.requests_waited += times;
  if (row.operation === SUMMED_OPERATION) sums.requests_embeddings += times;
  sums.fallbacks += times * row.fallback_count;
  sums.wait_ms_sum += times * row.wait_ms;
  // A maximum cannot be reverted; an estimate has not waited, so it does not need to be.
  if (times > 0) sums.wait_ms_max = Math.max(sums.wait_ms_max, row.wait_ms);
  sums.latency_ms_sum += times * row.latency_ms;
  countDuration(sums.waits, row.wait_ms, times);
  countDuration(sums.latencies, row.latency_ms, times);
  if (row.ttft_ms !== null) {
    sums.ttft_ms_sum += times * row.ttft_ms;
    sums.ttft_count += times;
  }
  const ttftMs = endpointTtftMs(row);
  if (ttftMs !== null) countDuration(sums.ttfts, ttftMs, times);
  if (row.usage_source === 'none') return;
  sums.requests_metered += times;
  if (row.usage_source === 'estimated') sums.requests_estimated += times;
  // `countAttempt` adds the attempts at their own endpoints.
  sums.further_attempts -= times;
  sums.further_metered -= times;
}

type UsageSums = Record<
  'input_tokens' | 'cached_input_tokens' | 'output_tokens' | 'cost_micros' | 'cost_rounding_picos',
  number
>;

/** Adds the usage of an attempt, or takes it out again. */
export function addUsage(sums: UsageSums, attempt: SentAttempt, times: 1 | -1): void {
  sums.input_tokens += times * attempt.input_tokens;
  sums.cached_input_tokens += times * attempt.cached_input_tokens;
  sums.output_tokens += times * attempt.output_tokens;
  sums.cost_micros += times * attempt.cost_micros;
  sums.cost_rounding_picos += times * attempt.cost_rounding_picos;
}

function countAttempt(sums: Sums, attempt: SentAttempt, times: 1 | -1): void {
  sums.further_attempts += times;
  if (attempt.source === 'none') return;
  sums.further_metered += times;
  addUsage(sums, attempt, times);
  if (!attempt.is_followed) return;
  sums.fallback_cost_micros += times * attempt.cost_micros;
  sums.fallback_cost_rounding_picos += times * attempt.cost_rounding_picos;
}

/** From the dispatch of the attempt that answered, which is the last one, so that a long queue does not look like a slow endpoint. */
function endpointTtftMs({ ttft_ms: ttftMs, attempts }: LedgerChange['row']): number | null {
  const startedMs = attempts.at(-1)?.started_ms ?? null;
  return ttftMs === null || startedMs === null ? null : Math.max(0, ttftMs - startedMs);
}

function coarser(groups: Groups, bucket: Bucket): Groups {
  const made: Groups = new Map();
  for (const rollup of groups.values())
    add(groupIn(made, rollup, bucket, bucketStart(bucket, rollup.bucket_start.getTime())), rollup);
  return made;
}

function add(sums: Sums, more: Sums): void {
  sums.requests_completed += more.requests_completed;
  sums.requests_failed += more.requests_failed;
  sums.requests_cancelled += more.requests_cancelled;
  sums.requests_metered += more.requests_metered;
  sums.requests_estimated += more.requests_estimated;
  sums.requests_streaming += more.requests_streaming;
  sums.requests_waited += more.requests_waited;
  sums.requests_embeddings += more.requests_embeddings;
  sums.fallbacks += more.fallbacks;
  sums.input_tokens += more.input_tokens;
  sums.cached_input_tokens += more.cached_input_tokens;
  sums.output_tokens += more.output_tokens;
  sums.cost_micros += more.cost_micros;
  sums.cost_rounding_picos += more.cost_rounding_picos;
  sums.wait_ms_sum += more.wait_ms_sum;
  sums.wait_ms_max = Math.max(sums.wait_ms_max, more.wait_ms_max);
  sums.latency_ms_sum += more.latency_ms_sum;
  sums.ttft_ms_sum += more.ttft_ms_sum;
  sums.ttft_count += more.ttft_count;
  sums.further_attempts += more.further_attempts;
  sums.further_metered += more.further_metered;
  sums.fallback_cost_micros += more.fallback_cost_micros;
  sums.fallback_cost_rounding_picos += more.fallback_cost_rounding_picos;
  addCounts(sums.waits, more.waits);
  addCounts(sums.latencies, more.latencies);
  addCounts(sums.ttfts, more.ttfts);
}
