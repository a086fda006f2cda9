import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { allScopes } from '@relay/contract';
import { type ProviderSim, startProviderSim } from '@relay/provider-sim';
import { type PrivatePostgres, type PrivateRedis, startPostgres, startRedis } from '@relay/testbed';
import { type Accounts, openAccounts } from './accounts.ts';
import { adminClient, createLane } from './admin-client.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { type RelayProcess, startRelay } from './relay-process.ts';

/** An organization with one owner, one key of theirs and one lane. */
export interface Tenant {
  readonly organizationId: string;
  readonly userId: string;
  readonly keyId: string;
  readonly key: string;
}

/** A hosted deployment with separate roles: one platform, two inference processes, a worker. */
export interface HostedDeployment {
  readonly postgres: PrivatePostgres;
  readonly redis: PrivateRedis;
  readonly provider: ProviderSim;
  readonly ledger: Ledger;
  readonly platform: RelayProcess;
  /** The platform forwards to the first one. */
  readonly inference: readonly [RelayProcess, RelayProcess];
  readonly acme: Tenant;
  readonly victim: Tenant;
  /** What the platform signs with. */
  readonly platformKey: KeyObject;
  /** A second key that inference trusts too, as during a key rotation. */
  readonly nextKey: KeyObject;
  readonly env: Readonly<Record<string, string>>;
  /** Puts further organizations into the database. */
  readonly accounts: Accounts;
  addTenant(): Promise<Tenant>;
  stop(): Promise<void>;
}

export const LANE = 'main';
export const BODY_BYTES_MAX = 100_000;

export async function startHostedDeployment(
  more: { readonly platform?: Readonly<Record<string, string>> } = {},
): Promise<HostedDeployment> {
  const [postgres, redis, provider] = await Promise.all([
    startPostgres({ migrated: true }),
    startRedis(),
    startProviderSim(),
  ]);
  const platformKey = generateKeyPairSync('ed25519').privateKey;
  const nextKey = generateKeyPairSync('ed25519').privateKey;
  const authSecret = randomBytes(32).toString('base64url');
  const env = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    RELAY_MODE: 'hosted',
    RELAY_AUTH_SECRET: authSecret,
    RELAY_MASTER_KEY: randomBytes(32).toString('base64'),
    RELAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.1/32',
    RELAY_MAX_BODY_BYTES: String(BODY_BYTES_MAX),
    RELAY_CONTEXT_SIGNING_KEY: String(platformKey.export({ format: 'jwk' }).d),
    RELAY_CONTEXT_VERIFY_KEYS: [platformKey, nextKey].map((key) => key.export({ format: 'jwk' }).x).join(),
  };
  // Each role gets what it needs and nothing else.
  const { RELAY_CONTEXT_SIGNING_KEY, RELAY_AUTH_SECRET, ...forInference } = env;
  const { RELAY_CONTEXT_VERIFY_KEYS, ...forPlatform } = env;
  const first = await startRelay({ env: forInference, role: 'inference' });
  const [second, worker, platform] = await Promise.all([
    startRelay({ env: forInference, role: 'inference' }),
    startRelay({ env: forInference, role: 'worker' }),
    startRelay({
      env: { ...forPlatform, RELAY_INFERENCE_URL: first.url, ...more.platform },
      role: 'platform',
    }),
  ]);
  const accounts = openAccounts({ databaseUrl: postgres.url, authSecret });
  const acme = await addTenant(accounts, platform, provider);
  const victim = await addTenant(accounts, platform, provider);
  const ledger = openLedger(postgres.url);
  return {
    postgres,
    redis,
    provider,
    ledger,
    platform,
    inference: [first, second],
    acme,
    victim,
    platformKey,
    nextKey,
    env,
    accounts,
    addTenant: () => addTenant(accounts, platform, provider),
    async stop() {
      await Promise.all([ledger.close(), accounts.close()]);
      await Promise.all([platform, first, second, worker].map((each) => each.stop()));
      await Promise.all([postgres.remove(), redis.remove(), provider.close()]);
    },
  };
}

async function addTenant(accounts: Accounts, platform: RelayProcess, provider: ProviderSim): Promise<Tenant> {
  const organizationId = await accounts.addOrganization({ plan: 'team' });
  const userId = await accounts.addMember(organizationId, { role: 'owner' });
  const { id: keyId, key } = await accounts.addKey({ organizationId, userId, scopes: allScopes });
  await createLane(adminClient(platform.url, key), {
    name: LANE,
    endpoints: [{ baseUrl: provider.baseUrl, upstreamModel: 'sim-multi' }],
  });
  return { organizationId, userId, keyId, key };
}
