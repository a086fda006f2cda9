import { type RawBuilder, type Selectable, sql } from 'kysely';
import { uuidTimeMs } from '../../../kit/uuid-time.ts';
import { rowArrays } from '../../postgres/row-arrays.ts';
import { columnsOf, type Database } from '../../postgres/schema.ts';
import { attemptsOfRow, type SentAttempt } from '../attempts-of-row.ts';
import type { CountedRow } from '../ledger-row.ts';
import { bucketStart } from './bucket.ts';
import { addUsage, type LedgerChange } from './rollups.ts';

type AttributedRollup = Selectable<Database['attributed_rollups']>;

/** Hours first: the most contended rollups are locked last, and so for the shortest time. */
const SIZES = ['hour', 'day'] as const;

const SUMS = [
  'requests',
  'requests_metered',
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'cost_micros',
  'cost_rounding_picos',
  'further_attempts',
] as const satisfies readonly (keyof AttributedRollup)[];

const COLUMNS = columnsOf('attributed_rollups');
const KEY = COLUMNS.filter((column) => !SUMS.some((sum) => sum === column));

/**
 * Adds the usage of these changes to the rollups by team and label; undefined when no row has either. The order is the same for all
 * writers, as with `addRollups`.
 */
export function addAttributedRollups(changes: Iterable<LedgerChange>): RawBuilder<unknown> | undefined {
  const rollups = attributedRollupsOf(changes);
  if (rollups.length === 0) return undefined;
  const { columns, select } = rowArrays('attributed_rollups', COLUMNS, rollups);
  const key = sql.join(KEY.map((column) => sql.ref(column)));
  const sums = SUMS.map(
    (sum) => sql`${sql.ref(sum)} = ${sql.ref(`attributed_rollups.${sum}`)} + ${sql.ref(`excluded.${sum}`)}`,
  );
  return sql`insert into attributed_rollups (${columns}) ${select}
    on conflict (${key}) do update set ${sql.join(sums)}`;
}

function attributedRollupsOf(changes: Iterable<LedgerChange>): AttributedRollup[] {
  const found = new Map<string, AttributedRollup>();
  for (const { row, times } of changes) {
    if (row.team_id === null && row.labels === null) continue;
    const attempts = attemptsOfRow(row);
    const metered = row.usage_source === 'none' ? 0 : times;
    for (const bucket of SIZES) {
      const sums = rollupIn(found, row, bucket, uuidTimeMs(row.request_id), row);
      sums.requests += times;
      sums.requests_metered += metered;
      sums.further_attempts -= metered;
      for (const attempt of attempts)
        countAttempt(rollupIn(found, row, bucket, attempt.dispatched_ms, attempt), attempt, times);
    }
  }
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, rollup]) => rollup);
}

function countAttempt(sums: AttributedRollup, attempt: SentAttempt, times: 1 | -1): void {
  sums.further_attempts += times;
  addUsage(sums, attempt, times);
}

/** Returns the sums of this moment's bucket at this endpoint. */
function rollupIn(
  found: Map<string, AttributedRollup>,
  row: CountedRow,
  bucket: AttributedRollup['bucket'],
  timeMs: number,
  { endpoint_id, provider_id }: Pick<CountedRow, 'endpoint_id' | 'provider_id'>,
): AttributedRollup {
  const startMs = bucketStart(bucket, timeMs);
  const of = {
    organization_id: row.organization_id,
    team_id: row.team_id,
    parent_team_id: row.parent_team_id,
    labels: labelsText(row.labels),
    user_id: row.user_id,
    key_id: row.key_id,
    endpoint_id,
    lane_id: row.lane_id,
    provider_id,
  };
  const name = `${SIZES.indexOf(bucket)}${startMs}${Object.values(of).join(' ')}`;
  let rollup = found.get(name);
  if (rollup === undefined) {
    const nothing = Object.fromEntries(SUMS.map((sum) => [sum, 0])) as Record<(typeof SUMS)[number], number>;
    rollup = { ...of, bucket, bucket_start: new Date(startMs), ...nothing };
    found.set(name, rollup);
  }
  return rollup;
}

/** The same text for the same labels, in whichever order they were set. */
function labelsText(labels: CountedRow['labels']): string {
  const sorted = Object.entries(labels ?? {}).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify(Object.fromEntries(sorted));
}
