import { windowStartMs } from '../../admission/calendar-window.ts';
import type { Opening } from '../../admission/engine.ts';
import { GEOMETRY } from '../../admission/memory/window.ts';
import { SHORT_WINDOW_MS } from '../../admission/rebuild-windows.ts';
import type { EpochStore } from '../../admission/redis/epochs.ts';
import { isExpiredEstimate } from '../../domain/expired-draft.ts';
import type { AppliedLimit, CountedRequests } from '../../domain/limits/limit.ts';
import { METRICS, type Quantity } from '../../domain/limits/metric.ts';
import { isSliding } from '../../domain/limits/period.ts';
import { attemptsOfRow, type SentAttempt } from '../../store/ledger/attempts-of-row.ts';
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
    for (const { sent } of countedAttempts(rows.values(), organizationId, counts))
      if (sent.dispatched_ms >= startMs) total += amountOfAttempt(sent, METRICS[metric].quantity);
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
  for (const { row, sent } of countedAttempts(rows, organizationId, counts)) {
    const amount = amountOfAttempt(sent, quantity);
    const reserved = Math.min(amount, estimateOfRow(row, quantity));
    const uses = [
      { atMs: sent.latest_ms, amount: reserved },
      { atMs: sent.ended_ms, amount: amount - reserved },
    ];
    for (const use of uses)
      if (use.atMs >= sinceMs && use.amount > 0)
        openings.push({ policy, startMs: Math.floor(use.atMs / bucketMs) * bucketMs, amount: use.amount });
  }
  return openings;
}

/** The attempts that such a limit counts, each with its row. */
function* countedAttempts(
  rows: Iterable<LedgerRow>,
  organizationId: string,
  { userId, keyId, scopeType, scopeId }: CountedRequests,
): Generator<{ readonly row: LedgerRow; readonly sent: SentAttempt }> {
  for (const row of rows) {
    if (row.organization_id !== organizationId) continue;
    if (userId !== null && row.user_id !== userId) continue;
    if (keyId !== null && row.key_id !== keyId) continue;
    if (scopeType === 'lane' && row.lane_id !== scopeId) continue;
    for (const sent of attemptsOfRow(row)) if (isSentTo(sent, scopeType, scopeId)) yield { row, sent };
  }
}

function isSentTo(
  sent: SentAttempt,
  scopeType: CountedRequests['scopeType'],
  scopeId: CountedRequests['scopeId'],
): boolean {
  switch (scopeType) {
    case 'global':
    case 'lane':
      return true;
    case 'provider':
      return sent.provider_id === scopeId;
    case 'credential':
      return sent.credential_id === scopeId;
    case 'endpoint':
    case 'model':
      return sent.endpoint_id === scopeId;
  }
}

export function amountOfAttempt(sent: SentAttempt, quantity: Quantity): number {
  switch (quantity) {
    case 'requests':
      return 1;
    case 'tokens':
      return sent.input_tokens + sent.output_tokens;
    case 'spend':
      return sent.cost_micros;
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
