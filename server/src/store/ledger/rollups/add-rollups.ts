import { type RawBuilder, type Selectable, sql } from 'kysely';
import { rowArrays } from '../../postgres/row-arrays.ts';
import { columnsOf, type Database } from '../../postgres/schema.ts';

/** What is added to one bucket's sums; negative where a row was replaced. */
export type RollupRow = Selectable<Database['request_rollups']>;

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

const COLUMNS = columnsOf('request_rollups');

const UPDATES = sql.join(
  COLUMNS.filter((column) => !KEY.some((part) => part === column)).map(
    (column) => sql`${sql.ref(column)} = ${sumOf(column)}`,
  ),
);

/** A statement ready to execute; undefined when there is nothing to add. */
export type AddRollups = RawBuilder<unknown> | undefined;

/**
 * Adds to the rollups in the given order. As long as all writers use the order of `rollupsOf`, they wait for each other but
 * never deadlock; PostgreSQL processes array elements in order.
 */
export function addRollups(rollups: readonly RollupRow[]): AddRollups {
  if (rollups.length === 0) return undefined;
  const { columns, select } = rowArrays('request_rollups', COLUMNS, rollups);
  const key = sql.join(KEY.map((column) => sql.ref(column)));
  return sql`insert into request_rollups (${columns}) ${select}
    on conflict (${key}) do update set ${UPDATES}`;
}

function sumOf(column: keyof RollupRow): RawBuilder<unknown> {
  const [had, comes] = [sql.ref(`request_rollups.${column}`), sql.ref(`excluded.${column}`)];
  if (column === 'wait_ms_max') return sql`greatest(${had}, ${comes})`;
  if (column.endsWith('_histogram')) return sql`add_histograms(${had}, ${comes})`;
  return sql`${had} + ${comes}`;
}
