import type { BoundPolicy } from '@relay/contract';
import type { Kysely } from 'kysely';
import { resetTimeMs } from '../../admission/calendar-window.ts';
import type { Caller } from '../../domain/caller.ts';
import { type ConfiguredLimit, limitsById } from '../../store/configuration/limits-by-id.ts';
import { type NamedPart, namesOfParts, scopePartOf } from '../../store/configuration/names-of.ts';
import type { StoredBoundPolicy } from '../../store/ledger/ledger-json.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { isId } from '../resources/refusals.ts';

/** A request as the ledger has it, as far as its limit needs it. */
interface LimitedRequest {
  readonly request_id: string;
  readonly user_id: string | null;
  readonly key_id: string | null;
  readonly bound_policy: StoredBoundPolicy | null;
}

type Limits = ReadonlyMap<string, ConfiguredLimit>;

/**
 * The limits of these requests, by request id, with their current values and with names. The ledger has neither, so a
 * deleted limit has no value and a deleted resource no name.
 */
export async function boundPolicies(
  db: Kysely<Database>,
  caller: Caller,
  requests: readonly LimitedRequest[],
): Promise<ReadonlyMap<string, BoundPolicy>> {
  const { organizationId } = caller;
  const limited = requests.flatMap((request) =>
    request.bound_policy === null ? [] : [{ request, bound: request.bound_policy }],
  );
  const limits = await readLimits(
    db,
    organizationId,
    limited.map(({ bound }) => bound),
  );
  const found = limited.map(({ request, bound }) => {
    const subject = subjectOf(request, bound, limits);
    return {
      request,
      bound,
      subject: mayRead(caller, request) ? subject : null,
      scope: scopePartOf(bound),
    };
  });
  const parts = found.flatMap(({ subject, scope }) => [subject, scope]);
  const names = await namesOfParts(db, organizationId, parts);
  const nameOf = (part: NamedPart | null) => (part === null ? null : (names.get(part.id) ?? null));
  return new Map(
    found.map(({ request, bound, subject, scope }) => [
      request.request_id,
      {
        policy_id: bound.policy_id,
        policy_kind: bound.kind,
        subject_id: subject?.id ?? null,
        subject_name: nameOf(subject),
        scope_type: bound.scope_type,
        scope_id: bound.scope_id,
        scope_name: nameOf(scope),
        metric: bound.metric,
        period: bound.period,
        limit_value: limits.get(bound.policy_id)?.limitValue ?? null,
        resets_at: resetsAt(bound),
      },
    ]),
  );
}

/** The limits that still exist, by id. The id of an endpoint's own concurrency limit is text that names the endpoint. */
async function readLimits(
  db: Kysely<Database>,
  organizationId: string,
  bounds: readonly StoredBoundPolicy[],
): Promise<Limits> {
  const limits = new Map<string, ConfiguredLimit>();
  const policies = bounds.filter(({ policy_id: id }) => isId(id));
  for (const [kind, of] of Map.groupBy(policies, (bound) => bound.kind)) {
    const ids = [...new Set(of.map(({ policy_id: id }) => id))];
    for (const [id, limit] of await limitsById(db, organizationId, kind, ids)) limits.set(id, limit);
  }
  const ofEndpoints = bounds.filter(({ policy_id: id }) => !isId(id));
  const endpointIds = [...new Set(ofEndpoints.flatMap(({ scope_id: id }) => id ?? []))];
  if (endpointIds.length === 0) return limits;
  const rows = await db
    .selectFrom('endpoints')
    .select(['id', 'max_concurrency'])
    .where('organization_id', '=', organizationId)
    .where('id', 'in', endpointIds)
    .execute();
  const values = new Map(rows.map(({ id, max_concurrency: value }) => [id, value]));
  for (const { policy_id: id, scope_id: endpointId } of ofEndpoints) {
    const limitValue = values.get(endpointId ?? '') ?? null;
    if (limitValue !== null) limits.set(id, { limitValue, subjectId: null });
  }
  return limits;
}

/** A member limit or key limit is of the member and key of the request; a team limit may be of the team's parent. */
function subjectOf(request: LimitedRequest, bound: StoredBoundPolicy, limits: Limits): NamedPart | null {
  const { kind } = bound;
  if (kind === 'resource') return null;
  const ids = {
    user: request.user_id,
    api_key: request.key_id,
    team: limits.get(bound.policy_id)?.subjectId ?? null,
  };
  const id = ids[kind];
  return id === null ? null : { kind, id };
}

/** Reading limits includes the names of their owners. Everyone else may know whose limit delays or rejects their own requests. */
function mayRead(caller: Caller, request: LimitedRequest): boolean {
  return caller.scopes.has('relay:limits:read:organization') || request.user_id === caller.userId;
}

function resetsAt({ period, resets_at: stored }: StoredBoundPolicy): string | null {
  const atMs = stored === null ? null : resetTimeMs(period, Date.parse(stored));
  return atMs === null ? null : new Date(atMs).toISOString();
}
