import type { Kysely, Selectable, Transaction } from 'kysely';
import { isPlanName, type PlanName } from '../../domain/access.ts';
import type {
  BudgetPolicy,
  Credential,
  Endpoint,
  Lane,
  LimitPolicy,
  Member,
  Membership,
  OrganizationSnapshot,
  Provider,
} from '../../domain/snapshot.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Sealer } from '../../kit/seal.ts';
import type { Secret } from '../../kit/secret.ts';
import { inSlices, type Steps, stepsOver } from '../../kit/slices.ts';
import type { Database } from '../postgres/schema.ts';
import type { StoreLog } from '../store-log.ts';
import { readGuardrails } from './load-guardrails.ts';
import { nextPriceAtMs, pricingAt } from './load-pricing.ts';
import { secretBinding } from './secret-binding.ts';

export interface SnapshotSource {
  readonly db: Kysely<Database>;
  readonly sealer: Sealer;
  readonly clock: Pick<Clock, 'monotonicMs' | 'nowMs'>;
  readonly log: StoreLog;
}

/** How long a large organization's new configuration may hold up requests at a time. */
export const SLICE_MS = 2;

type Row<Table extends keyof Database> = Selectable<Database[Table]>;

/** Reads one organization in one consistent transaction; undefined when it does not exist. */
export async function loadSnapshot(
  source: SnapshotSource,
  organizationId: string,
): Promise<OrganizationSnapshot | undefined> {
  const read = await source.db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute((tx) => readSnapshot(source, tx, organizationId));
  if (read === undefined) return undefined;
  const { sealed, ...snapshot } = read;
  // After the transaction, so that its connection is not held meanwhile.
  const credentials = await inSlices(openCredentials(source, sealed), source.clock, SLICE_MS);
  return { ...snapshot, credentials };
}

/** What a replay of requests needs: nothing of it opens a secret or asks a guardrail. */
export async function readSnapshotToReplay(
  tx: Transaction<Database>,
  organizationId: string,
  nowMs: number,
): Promise<OrganizationSnapshot> {
  const organization = await tx
    .selectFrom('organizations')
    .select(['config_version', 'plan'])
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
  const { sealed, ...routing } = await readRouting(tx, organizationId, nowMs);
  return {
    organizationId,
    version: organization.config_version,
    plan: isPlanName(organization.plan) ? organization.plan : 'closed',
    ...(await readPeople(tx, organizationId)),
    ...routing,
    credentials: byId(sealed.map((row) => ({ ...sealedCredential(row), secret: null }))),
    guardrails: [],
  };
}

/** All but the credentials, which are not opened yet. */
interface ReadSnapshot extends Omit<OrganizationSnapshot, 'credentials'> {
  readonly sealed: readonly Row<'credentials'>[];
}

async function readSnapshot(
  source: SnapshotSource,
  tx: Transaction<Database>,
  organizationId: string,
): Promise<ReadSnapshot | undefined> {
  const organization = await tx
    .selectFrom(['organizations', 'deployment'])
    .select(['config_version', 'plan', 'deployment.id as deployment_id'])
    .where('organizations.id', '=', organizationId)
    .executeTakeFirst();
  if (organization === undefined) return undefined;
  return {
    organizationId,
    deploymentId: organization.deployment_id,
    version: organization.config_version,
    plan: planOf(source, organizationId, organization.plan),
    ...(await readPeople(tx, organizationId)),
    ...(await readRouting(tx, organizationId, source.clock.nowMs())),
    guardrails: await readGuardrails(source, tx, organizationId),
  };
}

async function readPeople(
  tx: Transaction<Database>,
  organizationId: string,
): Promise<Pick<OrganizationSnapshot, 'members' | 'userPolicies' | 'teams' | 'teamPolicies'>> {
  const members = await tx
    .selectFrom('organization_members as member')
    .innerJoin('users', 'users.id', 'member.user_id')
    .select([
      'member.user_id',
      'member.role',
      'member.status',
      'member.team_id',
      'users.status as user_status',
    ])
    .where('member.organization_id', '=', organizationId)
    .execute();
  const userPolicies = await tx
    .selectFrom('user_limit_policies')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('enabled', '=', true)
    .orderBy('id')
    .execute();
  const teams = await tx
    .selectFrom('teams')
    .select(['id', 'parent_id as parentId'])
    .where('organization_id', '=', organizationId)
    .execute();
  const teamPolicies = await tx
    .selectFrom('team_limit_policies')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('enabled', '=', true)
    .orderBy('id')
    .execute();
  return {
    teams: byId(teams),
    teamPolicies: Map.groupBy(
      teamPolicies.map((row) => toBudgetPolicy('team', row.team_id, row)),
      ({ subjectId }) => subjectId,
    ),
    members: new Map(members.map((row) => [row.user_id, toMember(row)])),
    userPolicies: Map.groupBy(
      userPolicies.map((row) => toBudgetPolicy('user', row.user_id, row)),
      ({ subjectId }) => subjectId,
    ),
  };
}

type Routing = Pick<
  ReadSnapshot,
  | 'providers'
  | 'sealed'
  | 'endpoints'
  | 'lanes'
  | 'memberships'
  | 'pricing'
  | 'pricesChangeAtMs'
  | 'limitPolicies'
>;

async function readRouting(
  tx: Transaction<Database>,
  organizationId: string,
  nowMs: number,
): Promise<Routing> {
  const own = ['organization_id', '=', organizationId] as const;
  const providers = await tx
    .selectFrom('providers')
    .selectAll()
    .where(...own)
    .orderBy('id')
    .execute();
  const sealed = await tx
    .selectFrom('credentials')
    .selectAll()
    .where(...own)
    .orderBy('id')
    .execute();
  const endpoints = await tx
    .selectFrom('endpoints')
    .selectAll()
    .where(...own)
    .orderBy('id')
    .execute();
  const lanes = await tx
    .selectFrom('lanes')
    .selectAll()
    .where(...own)
    .orderBy('id')
    .execute();
  const prices = await tx
    .selectFrom('pricing_policies')
    .selectAll()
    .where(...own)
    .orderBy('id')
    .execute();
  const memberships = await tx
    .selectFrom('lane_memberships')
    .selectAll()
    .where(...own)
    .orderBy('lane_id')
    .orderBy('manual_rank')
    .orderBy('id')
    .execute();
  const limitPolicies = await tx
    .selectFrom('limit_policies')
    .selectAll()
    .where(...own)
    .where('enabled', '=', true)
    .orderBy('id')
    .execute();
  return {
    providers: byId(providers.map(toProvider)),
    endpoints: byId(endpoints.map(toEndpoint)),
    lanes: byId(lanes.map(toLane)),
    memberships: memberships.map(toMembership),
    sealed,
    pricing: new Map(prices.map((row) => [row.endpoint_id, pricingAt(row, nowMs)])),
    pricesChangeAtMs: nextPriceAtMs(prices, nowMs),
    limitPolicies: limitPolicies.map(toLimitPolicy),
  };
}

/** An unknown plan grants nothing: granting too little can be corrected, too much cannot. */
function planOf({ log }: SnapshotSource, organizationId: string, plan: string): PlanName {
  if (isPlanName(plan)) return plan;
  log.warn({ organization_id: organizationId, plan }, 'the organization has an unknown plan');
  return 'closed';
}

function toMember(row: {
  user_id: string;
  role: Member['role'];
  status: Member['status'];
  team_id: string | null;
  user_status: Row<'users'>['status'];
}): Member {
  const active = row.status === 'active' && row.user_status === 'active';
  return {
    userId: row.user_id,
    role: row.role,
    status: active ? 'active' : 'suspended',
    teamId: row.team_id,
  };
}

/** The limit of a member or team, from a row of either's table. */
export function toBudgetPolicy(
  kind: BudgetPolicy['kind'],
  subjectId: string,
  row: Omit<Row<'user_limit_policies'>, 'user_id'>,
): BudgetPolicy {
  return {
    id: row.id,
    kind,
    subjectId,
    targetType: row.target_type,
    targetId: row.target_id,
    metric: row.metric,
    period: row.period,
    limitValue: row.limit_value,
    unpriced: row.unpriced,
    enforcement: row.enforcement,
    counter: row.counter,
  };
}

function byId<T extends { readonly id: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.id, item]));
}

function toProvider(row: Row<'providers'>): Provider {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    baseUrl: row.base_url,
    authMode: row.auth_mode,
    authHeaderName: row.auth_header_name,
    awsRegion: row.aws_region,
    awsService: row.aws_service,
    presetSlug: row.preset_slug,
    extraHeaders: row.extra_headers,
    extraQuery: row.extra_query,
    maxLatencyMs: row.max_latency_ms,
    healthProbe: row.health_probe,
    enabled: row.enabled,
  };
}

function toEndpoint(row: Row<'endpoints'>): Endpoint {
  return {
    id: row.id,
    providerId: row.provider_id,
    credentialId: row.credential_id,
    name: row.name,
    slug: row.slug,
    upstreamModel: row.upstream_model,
    routeKind: row.route_kind,
    protocol: row.protocol,
    supportsStreaming: row.supports_streaming,
    pacing: row.pacing,
    maxConcurrency: row.max_concurrency,
    contextWindow: row.context_window,
    maxLatencyMs: row.max_latency_ms,
    enabled: row.enabled,
    createdAtMs: row.created_at.getTime(),
  };
}

export function toLane(row: Row<'lanes'>): Lane {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    defaultMaxWaitMs: row.default_max_wait_ms,
    allowFallback: row.allow_fallback,
    holdMs: row.hold_ms,
    selection: row.selection,
    priority: row.priority,
    hidden: row.hidden,
    enabled: row.enabled,
  };
}

export function toMembership(row: Row<'lane_memberships'>): Membership {
  return {
    id: row.id,
    laneId: row.lane_id,
    endpointId: row.endpoint_id,
    manualRank: row.manual_rank,
    enabled: row.enabled,
  };
}

function toLimitPolicy(row: Row<'limit_policies'>): LimitPolicy {
  return {
    id: row.id,
    scopeType: row.scope_type,
    scopeId: row.scope_id,
    metric: row.metric,
    period: row.period,
    limitValue: row.limit_value,
    unpriced: row.unpriced,
    enforcement: row.enforcement,
    counter: row.counter,
    enabled: row.enabled,
  };
}

function* openCredentials(
  source: SnapshotSource,
  rows: readonly Row<'credentials'>[],
): Steps<ReadonlyMap<string, Credential>> {
  const credentials = new Map<string, Credential>();
  yield* stepsOver(rows, (row) => credentials.set(row.id, toCredential(source, row)));
  return credentials;
}

function toCredential(source: SnapshotSource, row: Row<'credentials'>): Credential {
  return { ...sealedCredential(row), secret: openSecret(source, row) };
}

function sealedCredential(row: Row<'credentials'>): Omit<Credential, 'secret'> {
  return {
    id: row.id,
    providerId: row.provider_id,
    enabled: row.enabled,
    createdAtMs: row.created_at.getTime(),
  };
}

/** One unreadable credential must not fail the whole organization: only requests that need it fail. */
function openSecret({ sealer, log }: SnapshotSource, row: Row<'credentials'>): Secret | null {
  const binding = secretBinding({
    organizationId: row.organization_id,
    ownerId: row.provider_id,
    secretVersion: row.secret_version,
  });
  try {
    return sealer.open(row.sealed_secret, binding);
  } catch (error) {
    const fields = { organization_id: row.organization_id, credential_id: row.id, key_id: row.key_id };
    log.warn({ err: error, ...fields }, 'cannot decrypt a credential with the configured master keys');
    return null;
  }
}
