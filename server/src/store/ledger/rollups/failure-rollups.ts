import { type RawBuilder, type Selectable, sql } from 'kysely';
import { blamesGuardrail, blamesLimit } from '../../../domain/failures/blame.ts';
import { uuidTimeMs } from '../../../kit/uuid-time.ts';
import { rowArrays } from '../../postgres/row-arrays.ts';
import { columnsOf, type Database } from '../../postgres/schema.ts';
import { BUCKETS, type Bucket, bucketStart } from './bucket.ts';
import type { LedgerChange } from './rollups.ts';

type FailureRollup = Selectable<Database['failure_rollups']>;

const SUMS = [
  'requests',
  'first_request_id',
  'last_request_id',
] as const satisfies readonly (keyof FailureRollup)[];
const COLUMNS = columnsOf('failure_rollups');
const KEY = COLUMNS.filter((column) => !SUMS.some((sum) => sum === column));

/**
 * Adds the failed requests among these changes to the rollups by cause; undefined when none failed. The order is the same for all
 * writers, as with `addRollups`.
 */
export function addFailureRollups(changes: Iterable<LedgerChange>): RawBuilder<unknown> | undefined {
  const rollups = failureRollupsOf(changes);
  if (rollups.length === 0) return undefined;
  const { columns, select } = rowArrays('failure_rollups', COLUMNS, rollups);
  const key = sql.join(KEY.map((column) => sql.ref(column)));
  return sql`insert into failure_rollups (${columns}) ${select}
    on conflict (${key}) do update set requests = failure_rollups.requests + excluded.requests,
      first_request_id = least(failure_rollups.first_request_id, excluded.first_request_id),
      last_request_id = greatest(failure_rollups.last_request_id, excluded.last_request_id)`;
}

function failureRollupsOf(changes: Iterable<LedgerChange>): FailureRollup[] {
  const found = new Map<string, FailureRollup>();
  for (const { row, times } of changes) {
    if (row.state !== 'failed') continue;
    for (const bucket of BUCKETS) {
      const rollup = rollupIn(found, row, bucket);
      rollup.requests += times;
      if (row.request_id < rollup.first_request_id) rollup.first_request_id = row.request_id;
      if (row.request_id > rollup.last_request_id) rollup.last_request_id = row.request_id;
    }
  }
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, rollup]) => rollup);
}

function rollupIn(
  found: Map<string, FailureRollup>,
  row: LedgerChange['row'],
  bucket: Bucket,
): FailureRollup {
  const startMs = bucketStart(bucket, uuidTimeMs(row.request_id));
  const error_code = row.error_code ?? '';
  const of = {
    organization_id: row.organization_id,
    user_id: row.user_id,
    error_code,
    provider_id: row.provider_id,
    endpoint_id: row.endpoint_id,
    lane_id: row.lane_id,
    // A limit that made the request wait has nothing to do with a failure at the provider.
    limit_id: blamesLimit(error_code) ? (row.bound_policy?.policy_id ?? null) : null,
    guardrail_id: blamesGuardrail(error_code) ? guardrailOf(row) : null,
  };
  // Minutes first: the most contended rollups are locked last, and so for the shortest time.
  const name = `${BUCKETS.indexOf(bucket)}${startMs} ${Object.values(of).join(' ')}`;
  let rollup = found.get(name);
  if (rollup === undefined) {
    rollup = {
      ...of,
      bucket,
      bucket_start: new Date(startMs),
      requests: 0,
      first_request_id: row.request_id,
      last_request_id: row.request_id,
    };
    found.set(name, rollup);
  }
  return rollup;
}

/** The guardrail that ended the request: the last one that blocked it or did not answer. */
function guardrailOf({ trace }: LedgerChange['row']): string | null {
  const ended = trace?.guardrails.findLast(
    ({ verdict }) => verdict === 'blocked' || verdict === 'unavailable',
  );
  return ended?.guardrail_id ?? null;
}
