import { windowStartMs } from '../../admission/calendar-window.ts';
import type { Opening } from '../../admission/engine.ts';
import { GEOMETRY } from '../../admission/memory/window.ts';
import { SHORT_WINDOW_MS } from '../../admission/rebuild-windows.ts';
import type { EpochStore } from '../../admission/redis/epochs.ts';
import { isExpiredEstimate } from '../../domain/expired-draft.ts';
import type { AppliedLimit, CountedRequests } from '../../domain/limits/limit.ts';
import { METRICS, type Quantity } from '../../domain/limits/metric.ts';
import { isSliding } from '../../domain/limits/period.ts';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import { createServer, type Link, type SimServer } from './network.fixture.ts';

/** Stands for PostgreSQL: rows by request, written all or none, and the sums that windows start from. */
export interface LedgerStore {
  readonly server: SimServer;
  readonly rows: ReadonlyMap<string, LedgerRow>;
  write(rows: readonly LedgerRow[]): number;
  /** What the limit's window that contains this time has used. */
  sum(organizationId: string, limit: Pick<AppliedLimit, 'metric' | 'counts'>, startMs: number): number;
  openings(organizationId: string, limits: readonly AppliedLimit[], nowMs: number): Opening[];
  /** Those of these requests whose row is final. */
  posted(requestIds: readonly string[]): ReadonlySet<string>;
  /** The table of epochs, over a connection. */
  epochs(link: Link): EpochStore;
}

/** As `shard-epochs.ts` has it. */
const RECENT_MS = 10_000;

export function createLedgerStore(nowMs: () => number): LedgerStore {
  const rows = new Map<string, LedgerRow>();
  const shards = new Map<number, { epoch: number; raisedMs: number }>();

  function sum(
    organizationId: string,
    { metric, counts }: Pick<AppliedLimit, 'metric' | 'counts'>,
    startMs: number,
  ): number {
    let total = 0;
    for (const row of rows.values()) {
      if (row.organization_id !== organizationId || row.usage_source === 'none') continue;
      if (uuidTimeMs(row.request_id) < startMs || !isCounted(row, counts)) continue;
      total += amountOfRow(row, METRICS[metric].quantity);
    }
    return total;
  }

  return {
    server: createServer('ledger'),
    rows,
    sum,
    write(batch) {
      let written = 0;
      for (const row of batch) {
        const known = rows.get(row.request_id);
        const isReplaced =
          known !== undefined &&
          isExpiredEstimate(known.error_code, known.usage_source) &&
          !isExpiredEstimate(row.error_code, row.usage_source);
        if (known !== undefined && !isReplaced) continue;
        rows.set(row.request_id, { ...row });
        written += 1;
      }
      return written;
    },
    openings(organizationId, limits, atMs) {
      return limits.flatMap((policy) => {
        const { period } = policy;
        if (period === 'none') return [];
        if (isSliding(period))
          return recentUse(rows.values(), organizationId, policy, atMs - SHORT_WINDOW_MS);
        const startMs = windowStartMs(period, atMs);
        return [{ policy, startMs, amount: sum(organizationId, policy, startMs) }];
      });
    },
    posted(requestIds) {
      const isFinal = (row: LedgerRow | undefined) =>
        row !== undefined && !isExpiredEstimate(row.error_code, row.usage_source);
      return new Set(requestIds.filter((id) => isFinal(rows.get(id))));
    },
    epochs: (link) => ({
      read: (shard) =>
        link.call(`epoch of ${shard}`, () => {
          const { epoch, raisedMs } = shards.get(shard) ?? { epoch: 0, raisedMs: 0 };
          return { epoch, isRecent: raisedMs > nowMs() - RECENT_MS };
        }),
      raise: (shard, from, to) =>
        link.call(`epoch ${to} of ${shard}`, () => {
          if ((shards.get(shard)?.epoch ?? 0) !== from) return false;
          shards.set(shard, { epoch: to, raisedMs: nowMs() });
          return true;
        }),
    }),
  };
}

/** As `recent-usage.ts` and `window-openings.ts` have it: the reservation at the dispatch, and use beyond it at the end. */
function recentUse(
  rows: Iterable<LedgerRow>,
  organizationId: string,
  policy: AppliedLimit,
  sinceMs: number,
): Opening[] {
  const { metric, period, counts } = policy;
  const { quantity } = METRICS[metric];
  if (period === 'none' || !isSliding(period)) return [];
  const { bucketMs } = GEOMETRY[period];
  const openings: Opening[] = [{ policy, startMs: sinceMs, amount: 0 }];
  for (const row of rows) {
    if (row.organization_id !== organizationId || row.usage_source === 'none' || !isCounted(row, counts))
      continue;
    const amount = amountOfRow(row, quantity);
    const reserved = Math.min(amount, estimateOfRow(row, quantity));
    const startedMs = isExpiredEstimate(row.error_code, row.usage_source)
      ? row.latency_ms
      : Math.round(row.attempts.at(-1)?.started_ms ?? row.wait_ms);
    const arrivedMs = uuidTimeMs(row.request_id);
    const uses = [
      { atMs: arrivedMs + startedMs, amount: reserved },
      { atMs: arrivedMs + row.latency_ms, amount: amount - reserved },
    ];
    for (const use of uses)
      if (use.atMs >= sinceMs && use.amount > 0)
        openings.push({ policy, startMs: Math.floor(use.atMs / bucketMs) * bucketMs, amount: use.amount });
  }
  return openings;
}

function isCounted(row: LedgerRow, { userId, keyId, scopeType, scopeId }: CountedRequests): boolean {
  if (userId !== null && row.user_id !== userId) return false;
  if (keyId !== null && row.key_id !== keyId) return false;
  switch (scopeType) {
    case 'global':
      return true;
    case 'provider':
      return row.provider_id === scopeId;
    case 'credential':
      return row.credential_id === scopeId;
    case 'endpoint':
    case 'model':
      return row.endpoint_id === scopeId;
    case 'lane':
      return row.lane_id === scopeId;
  }
}

/** Attempts and requests that windows count and the sums leave out; of one endpoint, or of all. As `charged-attempts.ts` has it. */
export function chargedAttempts(
  { rows }: Pick<LedgerStore, 'rows'>,
  organizationId: string,
  endpointId: string | null,
): Readonly<Record<Quantity | 'unknown', number>> {
  const charged = { requests: 0, unknown: 0, tokens: 0, spend: 0 };
  for (const { organization_id, attempts, usage_source } of rows.values()) {
    if (organization_id !== organizationId) continue;
    for (const [index, attempt] of attempts.entries()) {
      const isFollowed = index < attempts.length - 1;
      if (!isFollowed && usage_source !== 'none') continue;
      if (endpointId !== null && attempt.endpoint_id !== endpointId) continue;
      charged.requests += 1;
      if (isFollowed && attempt.charged_tokens === undefined) charged.unknown += 1;
      charged.tokens += isFollowed ? (attempt.charged_tokens ?? 0) : 0;
      charged.spend += isFollowed ? (attempt.charged_cost_micros ?? 0) : 0;
    }
  }
  return charged;
}

export function amountOfRow(row: LedgerRow, quantity: Quantity): number {
  switch (quantity) {
    case 'requests':
      return 1;
    case 'tokens':
      return (
        Number(row.actual_input_tokens ?? row.estimated_input_tokens) +
        Number(row.actual_output_tokens ?? row.estimated_output_tokens)
      );
    case 'spend':
      return Number(row.actual_cost_micros ?? row.estimated_cost_micros);
  }
}

function estimateOfRow(row: LedgerRow, quantity: Quantity): number {
  switch (quantity) {
    case 'requests':
      return 1;
    case 'tokens':
      return Number(row.estimated_input_tokens) + Number(row.estimated_output_tokens);
    case 'spend':
      return Number(row.estimated_cost_micros);
  }
}
