import type { Showback, ShowbackLine, ShowbackQuery } from '@relay/contract';
import { csvRecord } from '@relay/contract/client';
import type { Kysely } from 'kysely';
import type { Handlers } from '../../http/call.ts';
import { namesOf } from '../../store/configuration/names-of.ts';
import { BUCKET_MS, type BucketRange, ROLLUP_DAYS } from '../../store/ledger/rollups/bucket.ts';
import {
  readShowback,
  readShowbackTotal,
  type ShowbackGroup,
  type ShowbackSums,
} from '../../store/ledger/rollups/read-showback.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { invalidField, isId } from '../resources/refusals.ts';
import { timeOf } from '../resources/time-param.ts';
import { wireCosts } from '../resources/wire-cost.ts';
import { focusCsv } from './focus.ts';

const GROUPS_MAX = 1_000;
const DAYS_MAX = 800;
/** Shorter ranges that do not begin and end with a day are read by the hour. */
const HOURS_DAYS_MAX = 32;
const LABEL = /^label:([a-z0-9_.-]{1,32})$/;

/** Who spent what: usage divided by team, label, key, member or model, from rollups only. */
export function showbackHandlers(deps: Pick<ManagementDeps, 'ofOrganization' | 'clock'>): Handlers {
  const read = (organizationId: string, query: ShowbackQuery) =>
    showbackOf(deps.ofOrganization(organizationId), organizationId, query, deps.clock.nowMs());
  return {
    getShowback: ({ caller, query }) => read(caller.organizationId, query),
    async exportShowback(call) {
      const { caller, query } = call;
      const { organizationId } = caller;
      const focus = query.format === 'focus';
      call.setHeader(
        'content-disposition',
        `attachment; filename="${focus ? 'showback-focus' : 'showback'}.csv"`,
      );
      const db = deps.ofOrganization(organizationId);
      if (focus) return { chunks: focusCsv(db, organizationId, rangeOf(query, deps.clock.nowMs())) };
      const text = summaryCsv(await read(organizationId, query));
      return {
        chunks: (async function* () {
          yield text;
        })(),
      };
    },
  };
}

async function showbackOf(
  db: Kysely<Database>,
  organizationId: string,
  query: ShowbackQuery,
  nowMs: number,
): Promise<Showback> {
  const { group_by = 'team' } = query;
  const group = groupOf(group_by);
  const range = rangeOf(query, nowMs);
  // One more tells whether there are others.
  const rows = await readShowback(db, organizationId, range, group, GROUPS_MAX + 1);
  const total = await readShowbackTotal(db, organizationId, range);
  const shown = rows.slice(0, GROUPS_MAX);
  const ids = shown.flatMap(({ key }) => (key !== null && isId(key) ? [key] : []));
  const names = group.by === 'label' ? new Map() : await namesOf(db, organizationId, NAMED[group.by], ids);
  const lines: ShowbackLine[] = shown.map((row) => ({
    kind: row.key === null ? 'none' : 'group',
    key: row.key,
    label: row.key === null ? 'none' : (names.get(row.key) ?? row.key),
    ...wireSums(row),
  }));
  if (rows.length > GROUPS_MAX)
    lines.push({ kind: 'other', key: null, label: 'other', ...wireSums(without(total, shown)) });
  return {
    group_by,
    from: new Date(range.fromMs).toISOString(),
    to: new Date(range.toMs).toISOString(),
    total: wireSums(total),
    lines,
  };
}

const NAMED = { team: 'team', key: 'api_key', member: 'user', model: 'model' } as const;

function groupOf(text: string): ShowbackGroup {
  const [, name] = LABEL.exec(text) ?? [];
  if (name !== undefined) return { by: 'label', name };
  if (text === 'team' || text === 'key' || text === 'member' || text === 'model') return { by: text };
  throw invalidField(
    'group_by',
    'group_by must be team, key, member, model, or label:NAME, such as label:app.',
  );
}

/** The whole hours or days that cover the time asked for; without one, this month. */
function rangeOf({ from, to }: ShowbackQuery, nowMs: number): BucketRange {
  const now = new Date(nowMs);
  const fromMs = timeOf('from', from) ?? Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  const toMs = timeOf('to', to) ?? Math.ceil((nowMs + 1) / BUCKET_MS.day) * BUCKET_MS.day;
  if (fromMs >= toMs) throw invalidField('from', '"from" must be earlier than "to".');
  if (toMs - fromMs > DAYS_MAX * BUCKET_MS.day)
    throw invalidField('from', `The time between "from" and "to" must be at most ${DAYS_MAX} days.`);
  const ofDays = fromMs % BUCKET_MS.day === 0 && toMs % BUCKET_MS.day === 0;
  const isKept = fromMs > nowMs - ROLLUP_DAYS.hour * BUCKET_MS.day;
  const isShort = toMs - fromMs <= HOURS_DAYS_MAX * BUCKET_MS.day;
  const bucket = !ofDays && isKept && isShort ? 'hour' : 'day';
  const sizeMs = BUCKET_MS[bucket];
  return { bucket, fromMs: Math.floor(fromMs / sizeMs) * sizeMs, toMs: Math.ceil(toMs / sizeMs) * sizeMs };
}

function wireSums(sums: ShowbackSums) {
  const counts = { priced: sums.priced_attempts, unpriced: sums.unpriced_requests };
  return {
    requests: sums.requests,
    metered_requests: sums.metered_requests,
    input_tokens: sums.input_tokens,
    cached_input_tokens: sums.cached_input_tokens,
    output_tokens: sums.output_tokens,
    ...wireCosts({ cost: BigInt(sums.cost_picos) }, counts),
  };
}

function without(total: ShowbackSums, shown: readonly ShowbackSums[]): ShowbackSums {
  const rest = (of: Exclude<keyof ShowbackSums, 'cost_picos'>) =>
    shown.reduce((left, sums) => left - sums[of], total[of]);
  const picos = shown.reduce((left, { cost_picos }) => left - BigInt(cost_picos), BigInt(total.cost_picos));
  return {
    requests: rest('requests'),
    metered_requests: rest('metered_requests'),
    // The total counts a request with attempts in two groups once.
    unpriced_requests: Math.max(0, rest('unpriced_requests')),
    priced_attempts: rest('priced_attempts'),
    input_tokens: rest('input_tokens'),
    cached_input_tokens: rest('cached_input_tokens'),
    output_tokens: rest('output_tokens'),
    cost_picos: String(picos),
  };
}

const COLUMNS = [
  'kind',
  'key',
  'label',
  'requests',
  'metered_requests',
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'cost_micros',
  'cost_usd',
  'unpriced_requests',
] as const satisfies readonly (keyof ShowbackLine)[];

function summaryCsv({ lines, total }: Showback): string {
  const all = { kind: 'total', key: null, label: 'total', ...total };
  const records = [...lines, all].map((line) => csvRecord(COLUMNS.map((column) => line[column])));
  return csvRecord(COLUMNS) + records.join('');
}
