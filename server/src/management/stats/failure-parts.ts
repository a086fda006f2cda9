import type { Kysely } from 'kysely';
import type { Involved, InvolvedLimit } from '../../domain/failures/failure-words.ts';
import { endpointBound } from '../../domain/limits/limit.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import { namesOf } from '../../store/configuration/names-of.ts';
import type { StoredBoundPolicy } from '../../store/ledger/ledger-json.ts';
import type { FailedExample } from '../../store/ledger/log/read-examples.ts';
import type { FailureGroup } from '../../store/ledger/rollups/read-failures.ts';
import type { Database } from '../../store/postgres/schema.ts';

interface Named {
  readonly id: string;
  /** Null where it has none. */
  readonly name: string | null;
}

/** What took part in a cause; null where it is unknown, was deleted, or has nothing to do with it. */
export interface CauseParts {
  readonly provider: Named | null;
  readonly endpoint: Named | null;
  readonly lane: Named | null;
  readonly guardrail: Named | null;
  readonly model: Named | null;
  readonly limit: Named | null;
  /** The endpoint whose own concurrency limit it is; such a limit is a field of the endpoint. */
  readonly limitedEndpoint: Named | null;
  /** A limit caused it. */
  readonly isLimited: boolean;
  readonly involved: Involved;
}

export type Parts = (group: FailureGroup, example: FailedExample | undefined) => CauseParts;

interface Source {
  readonly db: Kysely<Database>;
  readonly snapshot: OrganizationSnapshot;
}

/** What the configuration in memory lacks. */
interface Looked {
  readonly keys: ReadonlyMap<string, string>;
  readonly users: ReadonlyMap<string, string>;
  readonly teams: ReadonlyMap<string, string>;
  readonly guardrails: ReadonlyMap<string, string>;
  /** The values of limits by ID. */
  readonly values: ReadonlyMap<string, number>;
  /** Endpoints by the ID of their own concurrency limit. */
  readonly bounded: ReadonlyMap<string, Named>;
}

/** Finds the parts of these causes: names in the configuration, and those of keys, members, teams and guardrails. */
export async function partsOf(
  { db, snapshot }: Source,
  groups: readonly FailureGroup[],
  examples: ReadonlyMap<string, FailedExample>,
): Promise<Parts> {
  const { organizationId } = snapshot;
  const all = [...examples.values()];
  const idsOf = (column: 'key_id' | 'user_id' | 'team_id') => [
    ...new Set(all.flatMap((example) => example[column] ?? [])),
  ];
  const teamIds = [...idsOf('team_id'), ...snapshot.teamPolicies.keys()];
  const guardrailIds = [...new Set(groups.flatMap(({ guardrail_id: id }) => id ?? []))];
  const [keys, users, teams, guardrails] = await Promise.all([
    namesOf(db, organizationId, 'api_key', idsOf('key_id')),
    namesOf(db, organizationId, 'user', idsOf('user_id')),
    namesOf(db, organizationId, 'team', teamIds),
    namesOf(db, organizationId, 'guardrail', guardrailIds),
  ]);
  const bounds = all.flatMap(({ bound_policy: bound }) => bound ?? []);
  const looked = { keys, users, teams, guardrails, ...(await limitsOf({ db, snapshot }, bounds)) };
  return (group, example) => partsOfCause(snapshot, looked, group, example);
}

function partsOfCause(
  snapshot: OrganizationSnapshot,
  looked: Looked,
  group: FailureGroup,
  example: FailedExample | undefined,
): CauseParts {
  const { limit_id: limitId, guardrail_id: guardrailId } = group;
  const provider = inMap(snapshot.providers, group.provider_id);
  const endpoint = inMap(snapshot.endpoints, group.endpoint_id ?? example?.lacking_endpoint_id ?? null);
  const lane = inMap(snapshot.lanes, group.lane_id ?? example?.lane_id ?? null);
  const guardrail = namedIn(looked.guardrails, guardrailId);
  const bound = limitId === null ? null : (example?.bound_policy ?? null);
  const model = example?.model ?? null;
  return {
    provider,
    endpoint,
    lane,
    guardrail,
    model: model === null ? null : { id: model, name: model },
    limit: limitId !== null && looked.values.has(limitId) ? { id: limitId, name: null } : null,
    limitedEndpoint: looked.bounded.get(limitId ?? '') ?? null,
    isLimited: bound !== null,
    involved: {
      provider: provider?.name ?? null,
      endpoint: endpoint?.name ?? null,
      lane: lane?.name ?? null,
      guardrail: guardrail?.name ?? null,
      model,
      limit: bound === null ? null : involvedLimit(snapshot, looked, bound, example),
    },
  };
}

function involvedLimit(
  snapshot: OrganizationSnapshot,
  looked: Looked,
  bound: StoredBoundPolicy,
  example: FailedExample | undefined,
): InvolvedLimit {
  return {
    kind: bound.kind,
    scopeType: bound.scope_type,
    subjectName: subjectNameOf(snapshot, looked, bound, example),
    metric: bound.metric,
    period: bound.period,
    limitValue: looked.values.get(bound.policy_id) ?? null,
  };
}

function subjectNameOf(
  snapshot: OrganizationSnapshot,
  { keys, users, teams }: Looked,
  bound: StoredBoundPolicy,
  example: FailedExample | undefined,
): string | null {
  switch (bound.kind) {
    case 'api_key':
      return keys.get(example?.key_id ?? '') ?? null;
    case 'user':
      return users.get(example?.user_id ?? '') ?? null;
    case 'team': {
      // It may be the limit of the team's parent.
      const owner = [...snapshot.teamPolicies].find(([, own]) =>
        own.some(({ id }) => id === bound.policy_id),
      );
      return teams.get(owner?.[0] ?? example?.team_id ?? '') ?? null;
    }
    case 'resource':
      return scopeNameOf(snapshot, bound);
  }
}

function inMap(map: ReadonlyMap<string, { readonly name: string }>, id: string | null): Named | null {
  const found = id === null ? undefined : map.get(id);
  return found === undefined || id === null ? null : { id, name: found.name };
}

function namedIn(names: ReadonlyMap<string, string>, id: string | null): Named | null {
  const name = id === null ? undefined : names.get(id);
  return name === undefined || id === null ? null : { id, name };
}

function scopeNameOf(snapshot: OrganizationSnapshot, { scope_type: type, scope_id: id }: StoredBoundPolicy) {
  const maps = { provider: snapshot.providers, endpoint: snapshot.endpoints, lane: snapshot.lanes };
  const map = Object.entries(maps).find(([name]) => name === type)?.[1];
  return map === undefined ? null : (inMap(map, id)?.name ?? null);
}

/** Limits that exist; only those of keys are not in the snapshot. */
async function limitsOf(
  { db, snapshot }: Source,
  bounds: readonly StoredBoundPolicy[],
): Promise<Pick<Looked, 'values' | 'bounded'>> {
  const values = new Map<string, number>();
  const bounded = new Map<string, Named>();
  const budgets = [...snapshot.userPolicies.values(), ...snapshot.teamPolicies.values()].flat();
  for (const { id, limitValue } of [...snapshot.limitPolicies, ...budgets]) values.set(id, limitValue);
  for (const endpoint of snapshot.endpoints.values()) {
    if (endpoint.maxConcurrency === null) continue;
    const { described } = endpointBound(endpoint, endpoint.maxConcurrency);
    values.set(described.id, described.limit_value);
    bounded.set(described.id, { id: endpoint.id, name: endpoint.name });
  }
  const ofKeys = bounds.flatMap(({ kind, policy_id: id }) => (kind === 'api_key' ? [id] : []));
  if (ofKeys.length === 0) return { values, bounded };
  const rows = await db
    .selectFrom('api_key_limit_policies')
    .select(['id', 'limit_value'])
    .where('organization_id', '=', snapshot.organizationId)
    .where('id', 'in', [...new Set(ofKeys)])
    .execute();
  for (const { id, limit_value: value } of rows) values.set(id, value);
  return { values, bounded };
}
