import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import pg from 'pg';
import { loadModule } from '../checkouts/load-module.ts';
import { LANE, ROOT } from '../gateways/gateway.ts';
import { LIMIT_VALUE } from '../limits/policies.ts';

/** Who sends requests, and for which lane. */
export interface ScaleCaller {
  readonly key: string;
  readonly model: string;
}

interface KeyModule {
  mintApiKey(randomBytes: (size: number) => Buffer): { readonly key: string; readonly publicId: string };
  digestOfKey(pepper: KeyObject, key: string): Buffer;
}

export interface PopulateOptions {
  readonly databaseUrl: string;
  /** RELAY_AUTH_SECRET of the deployment. */
  readonly authSecret: string;
  readonly upstreamUrl: string;
  readonly size: number;
}

/**
 * Gives the deployment's organization as many lanes, endpoints, policies and keys as the size says, and the deployment as many
 * organizations, each other one with one of everything. Straight into the database: through the interface it would take an hour.
 * Returns callers that use all of it.
 */
export async function populate(options: PopulateOptions): Promise<ScaleCaller[]> {
  const client = new pg.Client({ connectionString: options.databaseUrl });
  await client.connect();
  try {
    await client.query('begin');
    const own = await addLanes(client, options);
    const others = options.size > 1 ? await addOrganizations(client, options) : [];
    await client.query(
      'with clock as (update config_clock set version = version + 1 returning version) update organizations set config_version = (select version from clock)',
    );
    await client.query('commit');
    await client.query('analyze');
    return interleaved(own, others);
  } finally {
    await client.end();
  }
}

/** The first lane and endpoint exist already. */
async function addLanes(client: pg.Client, { authSecret, size }: PopulateOptions): Promise<ScaleCaller[]> {
  const { rows } = await client.query<{ organization: string; user: string }>(
    'select organization_id as organization, user_id as user from organization_members',
  );
  const [owner] = rows;
  if (owner === undefined) throw new Error('the deployment has no owner');
  const series = `generate_series(1, ${size - 1}) as n`;
  const id = (kind: string) => `md5('${kind}' || n)::uuid`;
  await client.query(
    `insert into endpoints (organization_id, id, provider_id, name, slug, upstream_model, route_kind)
     select $1, ${id('endpoint')}, (select id from providers), 'Endpoint ' || n, 'endpoint-' || n, 'model-' || n, 'multi' from ${series}`,
    [owner.organization],
  );
  await client.query(
    `insert into lanes (organization_id, id, name, slug, default_max_wait_ms)
     select $1, ${id('lane')}, 'Lane ' || n, 'lane-' || n, 5000 from ${series}`,
    [owner.organization],
  );
  await client.query(
    `insert into lane_memberships (organization_id, id, lane_id, endpoint_id, manual_rank)
     select $1, ${id('membership')}, ${id('lane')}, ${id('endpoint')}, 1 from ${series}`,
    [owner.organization],
  );
  await addPolicies(client);
  const keys = await mintKeys(authSecret, size);
  await client.query(
    `insert into api_keys (organization_id, id, user_id, name, public_id, secret_hmac, scopes)
     select $1, gen_random_uuid(), $2, 'Key ' || place, public_id, secret_hmac, '{relay:request}'
     from unnest($3::text[], $4::bytea[]) with ordinality as made (public_id, secret_hmac, place)`,
    [owner.organization, owner.user, keys.map(({ publicId }) => publicId), keys.map(({ digest }) => digest)],
  );
  return keys.map(({ key }, index) => ({ key, model: index === 0 ? LANE : `lane-${index}` }));
}

async function addOrganizations(
  client: pg.Client,
  { authSecret, upstreamUrl, size }: PopulateOptions,
): Promise<ScaleCaller[]> {
  const series = `generate_series(1, ${size - 1}) as n`;
  const id = (kind: string) => `md5('other ${kind}' || n)::uuid`;
  const organization = id('organization');
  for (const statement of [
    `organizations (id, name, slug, plan) select ${organization}, 'Organization ' || n, 'organization-' || n, 'enterprise'`,
    `users (id, name, email) select ${id('user')}, 'User ' || n, 'user-' || n || '@example.com'`,
    `organization_members (organization_id, user_id, role) select ${organization}, ${id('user')}, 'owner'`,
    `providers (organization_id, id, name, slug, base_url, auth_mode)
       select ${organization}, ${id('provider')}, 'Upstream', 'upstream', '${upstreamUrl}', 'none'`,
    `endpoints (organization_id, id, provider_id, name, slug, upstream_model, route_kind)
       select ${organization}, ${id('endpoint')}, ${id('provider')}, 'Upstream chat', 'upstream-chat', 'model', 'multi'`,
    `lanes (organization_id, id, name, slug, default_max_wait_ms) select ${organization}, ${id('lane')}, 'Fast', '${LANE}', 5000`,
    `lane_memberships (organization_id, id, lane_id, endpoint_id, manual_rank)
       select ${organization}, ${id('membership')}, ${id('lane')}, ${id('endpoint')}, 1`,
  ])
    await client.query(`insert into ${statement} from ${series}`);
  await addPolicies(client);
  const keys = await mintKeys(authSecret, size - 1);
  await client.query(
    `insert into api_keys (organization_id, id, user_id, name, public_id, secret_hmac, scopes)
     select ${organization}, gen_random_uuid(), ${id('user')}, 'Key', public_id, secret_hmac, '{relay:request}'
     from unnest($1::text[], $2::bytea[]) with ordinality as made (public_id, secret_hmac, n)`,
    [keys.map(({ publicId }) => publicId), keys.map(({ digest }) => digest)],
  );
  return keys.map(({ key }) => ({ key, model: LANE }));
}

/** One for every endpoint without one, so that a request costs the same wherever it goes. */
async function addPolicies(client: pg.Client): Promise<void> {
  await client.query(
    `insert into limit_policies (organization_id, id, scope_type, scope_id, metric, period, limit_value)
     select organization_id, gen_random_uuid(), 'endpoint', id, 'requests', 'minute', ${LIMIT_VALUE} from endpoints
     where not exists (select from limit_policies where scope_id = endpoints.id)`,
  );
}

async function mintKeys(authSecret: string, count: number) {
  const { mintApiKey, digestOfKey } = await loadModule<KeyModule>(ROOT, 'domain/api-key.ts');
  const pepper = createSecretKey(Buffer.from(hkdfSync('sha256', authSecret, '', 'relay key pepper', 32)));
  return Array.from({ length: count }, () => {
    const minted = mintApiKey(randomBytes);
    return { ...minted, digest: digestOfKey(pepper, minted.key) };
  });
}

/** One of either in turn, so that any stretch of the list uses lanes of the large organization and other organizations alike. */
export function interleaved<T>(one: readonly T[], other: readonly T[]): T[] {
  return Array.from({ length: Math.max(one.length, other.length) }, (_, index) =>
    [one[index], other[index]].filter((each) => each !== undefined),
  ).flat();
}
