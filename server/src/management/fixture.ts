import { createSecretKey, type KeyObject, randomBytes, randomUUIDv7 } from 'node:crypto';
import {
  allScopes,
  compileValidator,
  type Route,
  type RouteBody,
  type RouteId,
  type RouteQuery,
  routes,
  type Scope,
} from '@relay/contract';
import { type Kysely, sql } from 'kysely';
import { NOBODY } from '../admission/ask.fixture.ts';
import type { AdmissionEngine } from '../admission/engine.ts';
import { createEndpointHealth } from '../admission/health/endpoint-health.ts';
import { createMemoryHealthStore } from '../admission/health/health-store.ts';
import type { EndedAttempt } from '../admission/health/note-attempts.ts';
import { createLocalCooldowns } from '../admission/local-cooldowns.ts';
import { createMemoryEngine } from '../admission/memory/engine.ts';
import { concurrencyRefusal } from '../admission/refusal.ts';
import { effectiveScopes, type PlanName, type RoleName, rolePermissions } from '../domain/access.ts';
import type { Caller } from '../domain/caller.ts';
import { routingTableOf } from '../domain/routing/routing.ts';
import { isStreamed } from '../http/answer-stream.ts';
import type { Call, Handler, Handlers, RouteAnswer } from '../http/call.ts';
import { type Clock, systemClock } from '../kit/clock.ts';
import { createEgress } from '../kit/egress/index.ts';
import { createLog } from '../kit/log.ts';
import { createSealer, type Sealer } from '../kit/seal.ts';
import { createUpstreamAuth } from '../protocols/upstream-auth/create-upstream-auth.ts';
import { createSnapshots, type Snapshots } from '../store/configuration/snapshots.ts';
import { openTestDatabase } from '../store/fixtures/test-database.fixture.ts';
import type { DatabaseHandle } from '../store/postgres/postgres.ts';
import type { Database } from '../store/postgres/schema.ts';
import { createManagementHandlers } from './index.ts';
import type { Deployment, ManagementDeps } from './resources/deps.ts';

/**
 * The management module with its own database and two organizations, to test that they cannot see each other.
 */
export interface ManagementFixture {
  readonly db: Kysely<Database>;
  readonly ofOrganization: DatabaseHandle['ofOrganization'];
  /** For a test that starts its own listener. */
  readonly handlers: Handlers;
  readonly sealer: Sealer;
  readonly snapshots: Snapshots;
  readonly acme: Caller;
  readonly globex: Caller;
  readonly keyPepper: KeyObject;
  /** The fences raised so far, oldest first. */
  readonly raised: readonly { readonly organizationId: string; readonly version: number }[];
  /** The limits engine that live limit state is read from. */
  readonly engine: AdmissionEngine;
  /** An attempt at an endpoint, as a gateway would report it. */
  attempted(caller: Caller, endpointId: string, over?: Partial<EndedAttempt>): Promise<void>;
  readonly penalize: (endpointId: string, untilMs: number) => void;
  /** Calls a handler as the listener would, and checks the response against the contract. */
  call<I extends RouteId>(route: I, caller: Caller, input?: CallInput<I>): Promise<Answer<I>>;
  configVersion(caller: Caller): Promise<number>;
  close(): Promise<void>;
}

export interface CallInput<I extends RouteId> {
  readonly id?: string;
  readonly body?: RouteBody<I>;
  readonly query?: RouteQuery<I>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends a streamed response. */
  readonly ended?: AbortSignal;
}

export interface Answer<I extends RouteId> {
  readonly body: RouteAnswer<I>;
  readonly headers: ReadonlyMap<string, string>;
  readonly requestId: string;
}

const SUCCEEDED = {
  caller: 'anne',
  count: 'ok',
  error: null,
  hard: false,
  tookMs: 5,
  probe: false,
  noted: false,
  cooldownUntilMs: null,
} as const;

/** An attempt that no request can be the cause of. */
export const REFUSED: Partial<EndedAttempt> = {
  count: 'fault',
  hard: true,
  error: { message: 'connection refused', status: null },
};

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

export interface FixtureOptions {
  readonly deployment?: Deployment;
  /** Replaces the fixture's limits engine. */
  readonly limitUsage?: ManagementDeps['limitUsage'];
  readonly ledgerCompleteUntilMs?: number;
  readonly liveTraffic?: ManagementDeps['liveTraffic'];
  readonly clock?: Clock;
  readonly fences?: ManagementDeps['fences'];
  readonly randomBytes?: ManagementDeps['randomBytes'];
  readonly stripeWebhookSecret?: string;
  /** Options of the egress; by default it only reaches public addresses. */
  readonly egress?: Partial<Parameters<typeof createEgress>[0]>;
}

export async function startManagement(
  databaseUrl: string,
  options: FixtureOptions = {},
): Promise<ManagementFixture> {
  const clock = options.clock ?? systemClock;
  const database = await openTestDatabase({ url: databaseUrl, log, poolMax: 10 });
  const sealer = createSealer({ primary: randomBytes(32) });
  const snapshots = createSnapshots({ database, sealer, clock: systemClock, log });
  const egressOptions = {
    allowedCidrs: [],
    connectTimeoutMs: 1_000,
    connectionsPerOriginMax: 1,
    originsMax: 1,
    ...options.egress,
  };
  const egress = createEgress(egressOptions);
  const admission = createLocalCooldowns({
    clock: systemClock,
    channel: { announce: () => undefined, subscribe: () => undefined },
  });
  const health = createEndpointHealth({
    store: createMemoryHealthStore({ clock }),
    clock,
    log: createLog('silent'),
  });
  const engine = createMemoryEngine({
    clock,
    append: () => undefined,
    appendExpired: () => undefined,
    line: NOBODY,
  });
  const { db } = database;
  const keyPepper = createSecretKey(randomBytes(32));
  const raised: { organizationId: string; version: number }[] = [];
  const handlers = createManagementHandlers({
    ofOrganization: database.ofOrganization,
    statisticsOf: database.ofOrganization,
    fences: options.fences ?? {
      raise: async (organizationId, version) => void raised.push({ organizationId, version }),
    },
    sealer,
    keyPepper: () => keyPepper,
    randomBytes: options.randomBytes ?? randomBytes,
    egress,
    openEgress: () => createEgress(egressOptions),
    upstreamAuth: createUpstreamAuth({ clock, egress, random: Math.random }),
    snapshots,
    admission: {
      ...admission,
      refuseInLine: (_organizationId, id, retryMsMin) => concurrencyRefusal(id, retryMsMin),
    },
    health,
    clock,
    newId: randomUUIDv7,
    waitersMax: 100,
    publicUrl: 'https://relay.example.com',
    mail: null,
    deployment: options.deployment ?? { mode: 'self_hosted', accounts: false, version: '0.0.0' },
    billing: { db, stripeWebhookSecret: options.stripeWebhookSecret ?? null },
    typicalTokens: () => ({ outputTokens: 256, unseenInputTokens: 1_000 }),
    limitUsage: options.limitUsage ?? engine.usage,
    ledgerCompleteUntilMs: () => options.ledgerCompleteUntilMs ?? null,
    liveTraffic: options.liveTraffic ?? (async () => ({ flows: [], lanes: [] })),
  });

  async function call<I extends RouteId>(
    route: I,
    caller: Caller,
    input: CallInput<I> = {},
  ): Promise<Answer<I>> {
    const handler = handlers[route] as unknown as Handler<RouteId> | undefined;
    if (handler === undefined) throw new Error(`${route} is not served`);
    const definition: Route = routes[route];
    if (definition.body !== undefined && definition.rawBody !== true)
      demand(route, 'the body', compileValidator(definition.body)(input.body));
    const name = /\{(\w+)\}/.exec(definition.path)?.[1];
    const headers = new Map<string, string>();
    const requestId = randomUUIDv7();
    const made = {
      caller,
      requestId,
      params: name === undefined ? {} : { [name]: input.id },
      query: input.query ?? {},
      body: input.body,
      header: (header: string) => input.headers?.[header],
      setHeader: (header: string, value: string) => void headers.set(header, value),
      ended: input.ended ?? new AbortController().signal,
    } as unknown as Call<RouteId>;
    const body = (await handler(made)) as RouteAnswer<I>;
    const { schema } = definition.success;
    if (schema !== undefined && !isStreamed(definition))
      demand(route, 'the answer', compileValidator(schema)(body));
    return { body, headers, requestId };
  }

  return {
    db,
    ofOrganization: database.ofOrganization,
    handlers,
    sealer,
    snapshots,
    keyPepper,
    raised,
    acme: await addOrganization(db, 'acme'),
    globex: await addOrganization(db, 'globex'),
    engine,
    penalize: admission.penalize,
    async attempted({ organizationId }, endpointId, over = {}) {
      const candidate = routingTableOf(await snapshots.load(organizationId)).candidates.get(endpointId);
      if (candidate === undefined) throw new Error(`no endpoint ${endpointId}`);
      health.ended({ organizationId, candidate, ...SUCCEEDED, ...over });
    },
    call,
    async configVersion(caller) {
      const row = await db
        .selectFrom('organizations')
        .select('config_version')
        .where('id', '=', caller.organizationId)
        .executeTakeFirstOrThrow();
      return row.config_version;
    },
    async close() {
      await snapshots.stop();
      await egress.close();
      await database.close();
    },
  };
}

function demand(route: RouteId, what: string, result: ReturnType<ReturnType<typeof compileValidator>>): void {
  if (!result.ok)
    throw new Error(`${what} of ${route} is against the contract: ${JSON.stringify(result.issues)}`);
}

/** An organization and the token of its owner. */
export async function addOrganization(db: Kysely<Database>, slug: string): Promise<Caller> {
  const organizationId = randomUUIDv7();
  await db
    .insertInto('organizations')
    .values({ id: organizationId, name: slug, slug, plan: 'self_hosted' })
    .execute();
  return {
    organizationId,
    userId: await addUser(db, organizationId, 'owner'),
    keyId: null,
    sessionId: null,
    kind: 'admin_token',
    scopes: new Set(allScopes),
    access: { granted: null, permissions: new Set(allScopes), plan: 'self_hosted' },
    keyPolicies: [],
  };
}

async function addUser(db: Kysely<Database>, organization_id: string, role: RoleName): Promise<string> {
  const user_id = randomUUIDv7();
  await db
    .insertInto('users')
    .values({ id: user_id, name: role, email: `${user_id}@example.com` })
    .execute();
  await db.insertInto('organization_members').values({ organization_id, user_id, role }).execute();
  return user_id;
}

/** Adds a member with a browser session. */
export async function addMember(
  { db }: Pick<ManagementFixture, 'db'>,
  { organizationId, access: { plan } }: Caller,
  role: RoleName,
): Promise<Caller> {
  const access = { granted: null, permissions: rolePermissions[role], plan };
  return {
    organizationId,
    userId: await addUser(db, organizationId, role),
    keyId: null,
    sessionId: randomUUIDv7(),
    kind: 'session',
    scopes: effectiveScopes(access),
    access,
    keyPolicies: [],
  };
}

/** Changes the organization's plan, and returns the caller as its next request would see it. */
export async function onPlan(
  { db }: Pick<ManagementFixture, 'db'>,
  caller: Caller,
  plan: PlanName,
): Promise<Caller> {
  await db.updateTable('organizations').set({ plan }).where('id', '=', caller.organizationId).execute();
  const access = { ...caller.access, plan };
  return { ...caller, access, scopes: effectiveScopes(access) };
}

/** The caller as one of its keys with these scopes. */
export function asKey(caller: Caller, scopes: readonly Scope[], keyId: string = randomUUIDv7()): Caller {
  const access = { ...caller.access, granted: new Set(scopes) };
  return { ...caller, access, scopes: effectiveScopes(access), kind: 'user_key', keyId, sessionId: null };
}

/** Creates one of each resource, linked as in a first setup. */
export async function addOneOfEach(fixture: ManagementFixture, caller: Caller, name = 'Main') {
  const { call } = fixture;
  const { body: provider } = await call('createProvider', caller, {
    body: { name, base_url: 'https://api.example.com/v1', auth_mode: 'bearer_static', enabled: true },
  });
  const { body: credential } = await call('createCredential', caller, {
    body: { provider_id: provider.id, name, secret: 'sk-a-secret-of-the-provider' },
  });
  const { body: endpoint } = await call('createEndpoint', caller, {
    body: { provider_id: provider.id, name, upstream_model: 'gpt-5', route_kind: 'multi' },
  });
  const { body: lane } = await call('createLane', caller, { body: { name } });
  const { body: membership } = await call('createMembership', caller, {
    body: { lane_id: lane.id, endpoint_id: endpoint.id, manual_rank: 1, enabled: true },
  });
  const { body: pricing } = await call('createPricingPolicy', caller, {
    body: {
      endpoint_id: endpoint.id,
      input_cost_micros_per_1m_tokens: 1_000_000,
      output_cost_micros_per_1m_tokens: 2_000_000,
    },
  });
  const { body: limitPolicy } = await call('createLimitPolicy', caller, {
    body: {
      scope_type: 'endpoint',
      scope_id: endpoint.id,
      metric: 'requests',
      period: 'minute',
      limit_value: 600,
    },
  });
  return { provider, credential, endpoint, lane, membership, pricing, limitPolicy };
}

/** For `assert.rejects`: matches a RelayError with this code, field and message. */
export function refusal(code: string, param?: string, words?: RegExp): (error: unknown) => boolean {
  return (error) => {
    const {
      code: actual,
      detail,
      message,
    } = error as {
      code?: string;
      detail?: { param?: string | null };
      message: string;
    };
    const matches =
      actual === code &&
      (param === undefined || detail?.param === param) &&
      (words === undefined || words.test(message));
    if (!matches)
      throw new Error(`expected ${code} at ${param}, got ${actual} at ${detail?.param}: ${message}`);
    return true;
  };
}

/** Resolves when a session of this database waits for a lock. */
export async function lockIsAwaited(db: Kysely<Database>): Promise<void> {
  const deadlineMs = Date.now() + 30_000;
  while (Date.now() < deadlineMs) {
    const { rows } = await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    if (rows.length > 0) return;
  }
  throw new Error('no session waits for a lock');
}
