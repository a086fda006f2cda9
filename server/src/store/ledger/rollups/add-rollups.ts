import { type RawBuilder, type Selectable, sql } from 'kysely';
import { rowArrays } from '../../postgres/row-arrays.ts';
import { columnsOf, type Database } from '../../postgres/schema.ts';

/** The columns of the previous version. */
const COARSE = ['wait_histogram', 'latency_histogram'] as const;

/** What is added to one bucket's sums; negative where a row was replaced. */
export type RollupRow = Omit<Selectable<Database['request_rollups']>, (typeof COARSE)[number]>;

const KEY = [
  'organization_id',
  'bucket',
  'family',
  'bucket_start',
  'user_id',
  'key_id',
  'endpoint_id',
  'lane_id',
  'provider_id',
  'credential_id',
] as const satisfies readonly (keyof RollupRow)[];

const COLUMNS = columnsOf('request_rollups').filter(isWritten);

const UPDATES = sql.join(
  COLUMNS.filter((column) => !KEY.some((part) => part === column)).map(
    (column) => sql`${sql.ref(column)} = ${sumOf(column)}`,
  ),
);

/** A statement ready to execute; undefined when there is nothing to add. */
export type AddRollups = RawBuilder<unknown> | undefined;

/**
 * Adds to the rollups in the given order. As long as all writers use the order of `rollupsOf`, they wait for each other but
 * never deadlock; PostgreSQL processes array elements in order. `also` is another insert, which this way costs no statement of its own.
 */
export function addRollups(rollups: readonly RollupRow[], also?: RawBuilder<unknown>): AddRollups {
  if (rollups.length === 0) return undefined;
  const { columns, select } = rowArrays('request_rollups', COLUMNS, rollups);
  const key = sql.join(KEY.map((column) => sql.ref(column)));
  const first = also === undefined ? sql`` : sql`with also as (${also}) `;
  return sql`${first}insert into request_rollups (${columns}) ${select}
    on conflict (${key}) do update set ${UPDATES}`;
}

function isWritten(column: keyof Database['request_rollups']): column is keyof RollupRow {
  return !COARSE.some((each) => each === column);
}

function sumOf(column: keyof RollupRow): RawBuilder<unknown> {
  const [had, comes] = [sql.ref(`request_rollups.${column}`), sql.ref(`excluded.${column}`)];
  if (column === 'wait_ms_max') return sql`greatest(${had}, ${comes})`;
  if (column === 'wait_bins' || column === 'latency_bins' || column === 'ttft_bins')
    return sql`add_bins(${had}, ${comes})`;
  if (column === 'wait_counts') return addedCounts('request_rollups', 'wait');
  if (column === 'latency_counts') return addedCounts('request_rollups', 'latency');
  if (column === 'ttft_counts') return addedCounts('request_rollups', 'ttft');
  return sql`${had} + ${comes}`;
}

/** The new counts of a histogram, when a row of the table exists already. */
export function addedCounts(
  table: 'request_rollups' | 'guardrail_rollups',
  name: 'wait' | 'latency' | 'ttft',
): RawBuilder<unknown> {
  const of = (row: string) => sql`${sql.ref(`${row}.${name}_bins`)}, ${sql.ref(`${row}.${name}_counts`)}`;
  return sql`add_counts(${of(table)}, ${of('excluded')})`;
}
