import { type RawBuilder, type Selectable, sql } from 'kysely';
import { countDuration } from '../../../domain/histogram.ts';
import { uuidTimeMs } from '../../../kit/uuid-time.ts';
import { rowArrays } from '../../postgres/row-arrays.ts';
import { columnsOf, type Database } from '../../postgres/schema.ts';
import type { LedgerRow } from '../ledger-row.ts';
import { addedCounts } from './add-rollups.ts';
import { BUCKETS, type Bucket, bucketStart } from './bucket.ts';
import { columnsOfCounts } from './rollups.ts';

type GuardrailRollup = Omit<Selectable<Database['guardrail_rollups']>, 'latency_histogram'>;
type Sums = Omit<GuardrailRollup, 'latency_bins' | 'latency_counts'> & {
  readonly latencies: Map<number, number>;
};

/** The counting columns; each is named after its verdict. */
export const VERDICTS = ['allowed', 'flagged', 'replaced', 'blocked', 'unavailable'] as const;

const COLUMNS = columnsOf('guardrail_rollups').filter((column) => column !== 'latency_histogram');

/**
 * Adds the guardrail verdicts of these rows to their rollups; undefined when there are none. The order is the same for all
 * writers, as with `addRollups`. A lost gateway's estimate has no verdicts, so replacing it subtracts nothing.
 */
export function addGuardrailRollups(rows: readonly VerdictRow[]): RawBuilder<unknown> | undefined {
  const rollups = guardrailRollupsOf(rows);
  if (rollups.length === 0) return undefined;
  const { columns, select } = rowArrays('guardrail_rollups', COLUMNS, rollups);
  const counts = VERDICTS.map(
    (verdict) =>
      sql`${sql.ref(verdict)} = ${sql.ref(`guardrail_rollups.${verdict}`)} + ${sql.ref(`excluded.${verdict}`)}`,
  );
  return sql`insert into guardrail_rollups (${columns}) ${select}
    on conflict (organization_id, bucket, bucket_start, guardrail_id) do update set ${sql.join(counts)},
      latency_bins = add_bins(guardrail_rollups.latency_bins, excluded.latency_bins),
      latency_counts = ${addedCounts('guardrail_rollups', 'latency')}`;
}

type VerdictRow = Pick<LedgerRow, 'request_id' | 'organization_id' | 'trace'>;

function guardrailRollupsOf(rows: readonly VerdictRow[]): GuardrailRollup[] {
  const sums = new Map<string, Sums>();
  for (const row of rows) {
    for (const { guardrail_id, verdict, latency_ms } of row.trace?.guardrails ?? []) {
      // A newer gateway may send a verdict that this version has no column for.
      if (!VERDICTS.includes(verdict)) continue;
      for (const bucket of BUCKETS) {
        const sum = sumIn(sums, row, guardrail_id, bucket);
        sum[verdict] += 1;
        countDuration(sum.latencies, latency_ms, 1);
      }
    }
  }
  return [...sums]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, { latencies, ...sum }]) => {
      const { bins, counts } = columnsOfCounts(latencies);
      return { ...sum, latency_bins: bins, latency_counts: counts };
    });
}

function sumIn(
  sums: Map<string, Sums>,
  { request_id, organization_id }: VerdictRow,
  guardrail_id: string,
  bucket: Bucket,
): Sums {
  const startMs = bucketStart(bucket, uuidTimeMs(request_id));
  // Minutes first: the most contended rollups are locked last, and so for the shortest time.
  const name = `${BUCKETS.indexOf(bucket)}${organization_id}${startMs}${guardrail_id}`;
  let sum = sums.get(name);
  if (sum === undefined) {
    sum = {
      organization_id,
      bucket,
      bucket_start: new Date(startMs),
      guardrail_id,
      allowed: 0,
      flagged: 0,
      replaced: 0,
      blocked: 0,
      unavailable: 0,
      latencies: new Map(),
    };
    sums.set(name, sum);
  }
  return sum;
}
