import { randomBytes } from 'node:crypto';
import { allScopes } from '@relay/contract';
import { redisCall, redisKeys } from '@relay/testbed';
import { type Accounts, openAccounts } from '../harness/accounts.ts';
import { adminClient, createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { type HostedDeployment, startHostedDeployment } from '../harness/hosted-deployment.ts';
import { addObjects, untilLedgerReady } from '../harness/objects.ts';
import type { RelayProcess } from '../harness/relay-process.ts';
import { signedIn } from '../harness/signed-in.ts';
import { type Client, createClient } from './ask.ts';
import type { Hints } from './from-schema.ts';
import { type RawProvider, startRawProvider } from './raw-provider.ts';

/** Two deployments under fuzz: self-hosted with accounts, and hosted with separate roles. */
export interface Site {
  readonly client: Client;
  readonly selfHosted: Deployment;
  readonly hosted: HostedDeployment;
  readonly raw: RawProvider;
  readonly processes: readonly RelayProcess[];
  readonly accounts: Accounts;
  /** A new organization: lists stay short, and what was deleted is there again. */
  furnish(): Promise<Ground>;
  stop(): Promise<void>;
}

/** What a batch of inputs works on. */
export interface Ground {
  readonly organizationId: string;
  /** May do everything in the organization. */
  readonly key: string;
  /** May only make requests. */
  readonly narrowKey: string;
  /** The operator's browser. */
  readonly session: Readonly<Record<string, string>>;
  /**
   * Of a second organization, which the fuzzed routes do not change: a limit of 0 or a guardrail that they create would refuse every
   * request.
   */
  readonly inference: { readonly organizationId: string; readonly key: string };
  /** A lane that ends at the simulated provider, and others; of the second organization. */
  readonly lane: string;
  /** Lanes that end at the raw provider, so that one endpoint's cooldown stops few of them. */
  readonly rawLanes: readonly string[];
  readonly hints: Hints;
}

const LANE = 'fuzz';
const RAW_LANES = 8;
/** Short, so that an endpoint in its cooldown costs little time. */
const WAIT_MS = 150;
/** An answer that announces more than it has would keep its client until a timeout. */
const SILENCE_MS = 4_000;

export async function startSite(): Promise<Site> {
  const authSecret = randomBytes(32).toString('base64url');
  const raw = await startRawProvider();
  const selfHosted = await startDeployment({
    stores: 'servers',
    env: { RELAY_ACCOUNTS: 'true', RELAY_AUTH_SECRET: authSecret },
    provider: { bodies: 'none' },
  });
  const hosted = await startHostedDeployment();
  const accounts = openAccounts({ databaseUrl: selfHosted.postgres.url, authSecret });
  await untilLedgerReady(accounts);
  const client = createClient();
  return {
    client,
    selfHosted,
    hosted,
    raw,
    processes: [...selfHosted.processes, hosted.platform, ...hosted.inference],
    accounts,
    async furnish() {
      // Wrong passwords and tokens of the last inputs would have every later one refused, and the operator too.
      for (const { redis } of [selfHosted, hosted]) await forgetAttempts(redis.port);
      return furnish(selfHosted, accounts, raw);
    },
    async stop() {
      client.close();
      await accounts.close();
      await Promise.all([selfHosted.stop(), hosted.stop()]);
      await raw.close();
    },
  };
}

async function forgetAttempts(port: number): Promise<void> {
  const keys = await redisKeys(port, 'relay:attempts:*');
  if (keys.length > 0) await redisCall(port, 'DEL', ...keys);
}

async function furnish(selfHosted: Deployment, accounts: Accounts, raw: RawProvider): Promise<Ground> {
  const owner = await addOwner(accounts);
  const { organizationId, userId } = owner;
  const narrow = await accounts.addKey({ organizationId, userId, scopes: ['relay:request'] });
  const upstreamUrl = selfHosted.provider.baseUrl;
  const objects = await addObjects(accounts, { organizationId, callerId: userId, upstreamUrl, suffix: '' });
  await accounts.changed(organizationId);
  const inference = await addOwner(accounts);
  const admin = adminClient(selfHosted.url, inference.key);
  const lane = { default_max_wait_ms: WAIT_MS };
  const rawLanes = Array.from({ length: RAW_LANES }, (_, index) => `raw-${index}`);
  await createLane(admin, {
    name: LANE,
    lane,
    endpoints: [{ baseUrl: upstreamUrl, upstreamModel: 'sim-multi' }],
  });
  for (const name of rawLanes)
    await createLane(admin, {
      name,
      lane,
      endpoints: [{ baseUrl: raw.baseUrl, upstreamModel: 'raw', endpoint: { max_latency_ms: SILENCE_MS } }],
    });
  return {
    organizationId,
    key: owner.key,
    narrowKey: narrow.key,
    session: await signedIn(selfHosted),
    inference,
    lane: LANE,
    rawLanes,
    hints: hintsOf(objects, upstreamUrl),
  };
}

async function addOwner(
  accounts: Accounts,
): Promise<{ organizationId: string; userId: string; key: string }> {
  const organizationId = await accounts.addOrganization({ plan: 'self_hosted' });
  const userId = await accounts.addMember(organizationId, { role: 'owner' });
  const { key } = await accounts.addKey({ organizationId, userId, scopes: allScopes });
  return { organizationId, userId, key };
}

/** By the name of a parameter or field: values that exist. */
function hintsOf(objects: Awaited<ReturnType<typeof addObjects>>, upstreamUrl: string): Hints {
  const keys = [objects.keyId, objects.spareKeyId, objects.memberKeyId];
  const lanes = [objects.laneId, objects.spareLaneId];
  const endpoints = [objects.endpointId, objects.secondEndpointId, objects.bareEndpointId];
  const providers = [objects.providerId, objects.spareProviderId];
  const guardrails = [objects.guardrailId, objects.spareGuardrailId];
  const policies = [
    objects.limitPolicyId,
    objects.userPolicyId,
    objects.keyPolicyId,
    objects.spareKeyPolicyId,
  ];
  return {
    api_key_id: keys,
    api_key_uuid: keys,
    provider_id: providers,
    credential_id: [objects.credentialId, objects.spareCredentialId],
    endpoint_id: endpoints,
    group_id: lanes,
    lane_id: lanes,
    membership_id: [objects.membershipId, objects.spareMembershipId],
    pricing_policy_id: [objects.pricingPolicyId, objects.sparePricingPolicyId],
    guardrail_id: guardrails,
    policy_id: policies,
    limit_uuid: policies,
    scope_id: [...lanes, ...endpoints, ...providers],
    target_id: [...lanes, ...endpoints, ...providers],
    user_id: [objects.memberId],
    user_uuid: [objects.memberId],
    invitation_id: [objects.invitationId],
    request_id: [objects.requestId],
    code: ['not_found', 'internal_error'],
    base_url: [upstreamUrl, 'https://api.example.com/v1'],
    model: [LANE, 'matrix-model', objects.laneSlug],
    cursor: [Buffer.from(objects.laneId.replaceAll('-', ''), 'hex').toString('base64url')],
    preset_slug: ['custom-http', 'openai'],
    config: [{ version: 1 }],
  };
}
