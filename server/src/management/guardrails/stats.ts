import type { GuardrailStats } from '@relay/contract';
import { quantileMs } from '../../domain/histogram.ts';
import type { Call, Handlers } from '../../http/call.ts';
import type { ManagementDeps } from '../deps.ts';
import type { Row } from '../owned-rows.ts';
import { invalidField, isId } from '../refusals.ts';
import { addMeasured, type Measured, NOTHING } from '../stats/metrics.ts';
import { BUCKET_MS, type Range, rangeOf } from '../stats/range.ts';
import { listBindingsOf } from './queries.ts';
import { type BoundTo, uninspectableQuery, type VerdictRow, verdictsQuery } from './stats-queries.ts';

type StatsDeps = Pick<ManagementDeps, 'ofOrganization' | 'clock'>;
type Target = Pick<Row<'guardrail_bindings'>, 'target_type' | 'target_id'>;

export function guardrailStatsHandlers(
  deps: StatsDeps,
  read: (call: Call<'getGuardrailStats'>) => Promise<Row<'guardrails'>>,
): Handlers {
  return {
    async getGuardrailTotals({ caller: { organizationId }, query }) {
      const range = rangeOf(query.bucket ?? 'hour', query, deps.clock.nowMs());
      const { rows } = await verdictsQuery(organizationId, range).execute(
        deps.ofOrganization(organizationId),
      );
      const guardrails = rows.map((row) => ({
        guardrail_id: row.guardrail_id,
        ...measuredOf(measuredIn(row)),
      }));
      return { ...shown(range), guardrails };
    },
    async getGuardrailStats(call) {
      const { query } = call;
      const range = rangeOf(query.bucket ?? 'hour', query, deps.clock.nowMs());
      const asked = query.bound_to === undefined ? undefined : targetsIn(query.bound_to);
      const { id, organization_id: organizationId } = await read(call);
      const db = deps.ofOrganization(organizationId);
      const { rows } = await verdictsQuery(organizationId, range, id).execute(db);
      const targets =
        asked ?? (await listBindingsOf(db, organizationId, id)).filter(({ enabled }) => enabled);
      const counted = await uninspectableQuery(organizationId, range, boundTo(targets)).execute(db);
      const [{ streaming, embeddings } = { streaming: 0, embeddings: 0 }] = counted.rows;
      return {
        guardrail_id: id,
        ...shown(range),
        ...pointsOf(range, rows),
        streaming_requests: streaming,
        embedding_requests: embeddings,
      };
    },
  };
}

/** One point for every bucket of the range, whether it was asked in it or not. */
function pointsOf(range: Range, rows: readonly VerdictRow[]): Pick<GuardrailStats, 'total' | 'points'> {
  const buckets = new Map(rows.map((row) => [row.bucket_start?.getTime(), measuredIn(row)]));
  const points: GuardrailStats['points'] = [];
  let total = NOTHING;
  for (let atMs = range.fromMs; atMs < range.toMs; atMs += BUCKET_MS[range.bucket]) {
    const measured = buckets.get(atMs) ?? NOTHING;
    total = addMeasured(total, measured);
    points.push({ at: new Date(atMs).toISOString(), ...measuredOf(measured) });
  }
  return { total: measuredOf(total), points };
}

function measuredIn({ verdicts, histogram }: VerdictRow): Measured {
  return { sums: verdicts.map(Number), histogram: histogram.map(Number) };
}

function measuredOf({ sums, histogram }: Measured): GuardrailStats['total'] {
  const [allowed = 0, flagged = 0, replaced = 0, blocked = 0, unavailable = 0] = sums;
  return {
    allowed,
    flagged,
    replaced,
    blocked,
    unavailable,
    latency_ms_p50: quantileMs(histogram, 0.5),
    latency_ms_p95: quantileMs(histogram, 0.95),
  };
}

function boundTo(targets: readonly Target[]): BoundTo {
  const ids = (type: Target['target_type']) =>
    targets.flatMap(({ target_type, target_id }) => (target_type === type ? (target_id ?? []) : []));
  return {
    global: targets.some(({ target_type }) => target_type === 'global'),
    laneIds: ids('lane'),
    providerIds: ids('provider'),
    endpointIds: ids('endpoint'),
  };
}

function targetsIn(text: string): Target[] {
  if (text === '') return [];
  return text.split(',').map((part) => {
    if (part === 'global') return { target_type: 'global', target_id: null };
    const [type = '', id = '', ...more] = part.split(':');
    if (!isTargetType(type) || !isId(id) || more.length > 0)
      throw invalidField(
        'bound_to',
        'bound_to must be made of global, lane:ID, provider:ID and endpoint:ID, with commas between them.',
      );
    return { target_type: type, target_id: id };
  });
}

function isTargetType(text: string): text is 'lane' | 'provider' | 'endpoint' {
  return text === 'lane' || text === 'provider' || text === 'endpoint';
}

function shown({ bucket, fromMs, toMs }: Range) {
  return { bucket, from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}
