import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import { windowStartMs } from '../../admission/calendar-window.ts';
import type { Opening } from '../../admission/engine.ts';
import { isExpiredEstimate } from '../../domain/expired-draft.ts';
import type { AppliedLimit, CountedRequests } from '../../domain/limits/limit.ts';
import { METRICS, type Quantity } from '../../domain/limits/metric.ts';
import { isSliding } from '../../domain/limits/period.ts';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { createServer, type Link, type SimServer } from './network.fixture.ts';

/** Stands for PostgreSQL: rows by request, written all or none, and the sums that windows start from. */
export interface LedgerStore {
  readonly server: SimServer;
  readonly rows: ReadonlyMap<string, LedgerRow>;
  write(rows: readonly LedgerRow[]): number;
  /** What the limit's window that contains this time has used. */
  sum(organizationId: string, limit: AppliedLimit, startMs: number): number;
  openings(organizationId: string, limits: readonly AppliedLimit[], nowMs: number): Opening[];
  /** Answers the few statements that workers make beside the ledger's own. */
  database(link: Link): Kysely<Database>;
}

export function createLedgerStore(): LedgerStore {
  const rows = new Map<string, LedgerRow>();

  function sum(organizationId: string, { metric, counts }: AppliedLimit, startMs: number): number {
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
    openings(organizationId, limits, nowMs) {
      return limits.flatMap((policy) => {
        const { period } = policy;
        if (period === 'none' || isSliding(period)) return [];
        const startMs = windowStartMs(period, nowMs);
        return [{ policy, startMs, amount: sum(organizationId, policy, startMs) }];
      });
    },
    database: (link) => createDatabase(link),
  };
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

function createDatabase(link: Link): Kysely<Database> {
  const connection: DatabaseConnection = {
    executeQuery: <R>(query: CompiledQuery) =>
      link.call('a statement', (): QueryResult<R> => ({ rows: answerTo(query) as R[] })),
    async *streamQuery() {
      yield* [];
    },
  };
  const nothing = async () => undefined;
  const driver: Driver = {
    init: nothing,
    acquireConnection: async () => connection,
    beginTransaction: nothing,
    commitTransaction: nothing,
    rollbackTransaction: nothing,
    releaseConnection: nothing,
    destroy: nothing,
  };
  return new Kysely<Database>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

/** Every partition exists, and nothing is old enough to be removed. */
function answerTo({ sql, parameters }: CompiledQuery): unknown[] {
  const [names] = parameters;
  if (sql.includes('pg_inherits') && Array.isArray(names)) return names.map((relname) => ({ relname }));
  return [];
}
