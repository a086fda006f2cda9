import type { GuardrailStats } from '@relay/contract';
import { quantileMs } from '../../domain/histogram.ts';
import type { Call, Handlers } from '../../http/call.ts';
import { BUCKET_MS, type BucketRange } from '../../store/ledger/rollups/bucket.ts';
import type { Measured } from '../../store/ledger/rollups/read-series.ts';
import {
  type BoundTo,
  countUninspectable,
  readVerdicts,
  type VerdictRow,
} from '../../store/ledger/rollups/read-verdicts.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { invalidField, isId } from '../resources/refusals.ts';
import type { Row } from '../resources/rows.ts';
import { NOTHING, sumMeasured } from '../stats/metrics.ts';
import { rangeOf } from '../stats/range.ts';
import { listBindingsOf } from './queries.ts';

type StatsDeps = Pick<ManagementDeps, 'ofOrganization' | 'clock'>;
type Target = Pick<Row<'guardrail_bindings'>, 'target_type' | 'target_id'>;

export function guardrailStatsHandlers(
  deps: StatsDeps,
  read: (call: Call<'getGuardrailStats'>) => Promise<Row<'guardrails'>>,
): Handlers {
  return {
    async getGuardrailTotals({ caller: { organizationId }, query }) {
      const range = rangeOf(query.bucket ?? 'hour', query, deps.clock.nowMs());
      const rows = await readVerdicts(deps.ofOrganization(organizationId), organizationId, range);
      const guardrails = rows.map((row) => ({ guardrail_id: row.guardrailId, ...measuredOf(row) }));
      return { ...shown(range), guardrails };
    },
    async getGuardrailStats(call) {
      const { query } = call;
      const range = rangeOf(query.bucket ?? 'hour', query, deps.clock.nowMs());
      const asked = query.bound_to === undefined ? undefined : targetsIn(query.bound_to);
      const { id, organization_id: organizationId } = await read(call);
      const db = deps.ofOrganization(organizationId);
      const rows = await readVerdicts(db, organizationId, range, id);
      const targets =
        asked ?? (await listBindingsOf(db, organizationId, id)).filter(({ enabled }) => enabled);
      const uninspectable = await countUninspectable(db, organizationId, range, boundTo(targets));
      return {
        guardrail_id: id,
        ...shown(range),
        ...pointsOf(range, rows),
        streaming_requests: uninspectable.streaming,
        embedding_requests: uninspectable.embeddings,
      };
    },
  };
}

/** One point per bucket of the range, including buckets without calls. */
function pointsOf(range: BucketRange, rows: readonly VerdictRow[]): Pick<GuardrailStats, 'total' | 'points'> {
  const buckets = new Map(rows.map((row) => [row.bucketStartMs, row]));
  const points: GuardrailStats['points'] = [];
  for (let atMs = range.fromMs; atMs < range.toMs; atMs += BUCKET_MS[range.bucket]) {
    const measured: Measured = buckets.get(atMs) ?? NOTHING;
    points.push({ at: new Date(atMs).toISOString(), ...measuredOf(measured) });
  }
  return { total: measuredOf(sumMeasured(rows)), points };
}

function measuredOf({ sums, histogram }: Measured): GuardrailStats['total'] {
  const [allowed = 0, flagged = 0, replaced = 0, blocked = 0, unavailable = 0] = sums.map(Number);
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
        'bound_to must be a comma-separated list of global, lane:ID, provider:ID and endpoint:ID.',
      );
    return { target_type: type, target_id: id };
  });
}

function isTargetType(text: string): text is 'lane' | 'provider' | 'endpoint' {
  return text === 'lane' || text === 'provider' || text === 'endpoint';
}

function shown({ bucket, fromMs, toMs }: BucketRange) {
  return { bucket, from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}
