import { randomBytes, randomUUIDv7 } from 'node:crypto';
import {
  allScopes,
  compileValidator,
  type Route,
  type RouteBody,
  type RouteId,
  type RouteResult,
  routes,
} from '@relay/contract';
import type { Kysely } from 'kysely';
import type { AdmissionEngine } from '../admission/engine.ts';
import { createLocalCooldowns } from '../admission/local-cooldowns.ts';
import { createMemoryEngine } from '../admission/memory-engine.ts';
import type { Caller } from '../domain/caller.ts';
import type { Call, Handler } from '../http/call.ts';
import { type Clock, systemClock } from '../kit/clock.ts';
import { createEgress } from '../kit/egress/index.ts';
import { createSealer, type Sealer } from '../kit/seal.ts';
import { MIGRATION_TIMEOUT_MS, migrateUp } from '../store/migrate.ts';
import { createDatabase } from '../store/postgres.ts';
import type { Database } from '../store/schema.ts';
import { createSnapshots, type Snapshots } from '../store/snapshots.ts';
import type { Deployment, ManagementDeps } from './deps.ts';
import { createManagementHandlers } from './index.ts';

/** The room as it runs, on a database of the test's own, with two organizations that must not meet. */
export interface ManagementFixture {
  readonly db: Kysely<Database>;
  readonly sealer: Sealer;
  readonly snapshots: Snapshots;
  readonly acme: Caller;
  readonly globex: Caller;
  /** What the live state of limits is read from. */
  readonly engine: AdmissionEngine;
  readonly penalize: (endpointId: string, untilMs: number) => void;
  /** Calls a handler as the listener would, and holds its answer to the contract. */
  call<I extends RouteId>(route: I, caller: Caller, input?: CallInput<I>): Promise<Answer<I>>;
  configVersion(caller: Caller): Promise<number>;
  close(): Promise<void>;
}

export interface CallInput<I extends RouteId> {
  readonly id?: string;
  readonly body?: RouteBody<I>;
  readonly query?: { readonly limit?: number; readonly cursor?: string };
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer<I extends RouteId> {
  readonly body: RouteResult<I>;
  readonly headers: ReadonlyMap<string, string>;
  readonly requestId: string;
}

const log = { info: () => undefined, warn: () => undefined };

export interface FixtureOptions {
  readonly deployment?: Deployment;
  /** Takes the place of the engine of the fixture. */
  readonly limitUsage?: ManagementDeps['limitUsage'];
  readonly clock?: Clock;
}

export async function startManagement(
  databaseUrl: string,
  options: FixtureOptions = {},
): Promise<ManagementFixture> {
  const clock = options.clock ?? systemClock;
  const database = createDatabase({ url: databaseUrl, log, poolMax: 10 });
  await database.withSession((session) => migrateUp(session), MIGRATION_TIMEOUT_MS);
  const sealer = createSealer({ primary: randomBytes(32) });
  const snapshots = createSnapshots({ database, sealer, clock: systemClock, log });
  const egress = createEgress({
    allowedCidrs: [],
    connectTimeoutMs: 1_000,
    connectionsPerOriginMax: 1,
    originsMax: 1,
  });
  const admission = createLocalCooldowns({
    clock: systemClock,
    channel: { announce: () => undefined, subscribe: () => undefined },
  });
  const engine = createMemoryEngine({
    clock,
    append: () => undefined,
    appendExpired: () => undefined,
    wake: () => undefined,
  });
  const { db } = database;
  const handlers = createManagementHandlers({
    db,
    sealer,
    egress,
    snapshots,
    admission,
    clock,
    newId: randomUUIDv7,
    ...(options.deployment === undefined ? {} : { deployment: options.deployment }),
    typicalOutputTokens: () => 256,
    limitUsage: options.limitUsage ?? engine.usage,
  });

  async function call<I extends RouteId>(
    route: I,
    caller: Caller,
    input: CallInput<I> = {},
  ): Promise<Answer<I>> {
    const handler = handlers[route] as unknown as Handler<RouteId> | undefined;
    if (handler === undefined) throw new Error(`${route} is not served`);
    const definition: Route = routes[route];
    if (definition.body !== undefined)
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
    } as unknown as Call<RouteId>;
    const body = (await handler(made)) as RouteResult<I>;
    const { schema } = definition.success;
    if (schema !== undefined) demand(route, 'the answer', compileValidator(schema)(body));
    return { body, headers, requestId };
  }

  return {
    db,
    sealer,
    snapshots,
    acme: await addOrganization(db, 'acme'),
    globex: await addOrganization(db, 'globex'),
    engine,
    penalize: admission.penalize,
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

async function addOrganization(db: Kysely<Database>, slug: string): Promise<Caller> {
  const organizationId = randomUUIDv7();
  await db
    .insertInto('organizations')
    .values({ id: organizationId, name: slug, slug, plan: 'self_hosted' })
    .execute();
  return {
    organizationId,
    userId: randomUUIDv7(),
    keyId: null,
    kind: 'admin_token',
    scopes: new Set(allScopes),
  };
}

/** One of each resource, tied together the way a first setup is. */
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

/** For `assert.rejects`: a RelayError of this code, at this field, whose message has these words. */
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
