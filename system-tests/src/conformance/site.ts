import { randomBytes } from 'node:crypto';
import { type ProviderSim, startGuardrailSim } from '@relay/provider-sim';
import { type Accounts, openAccounts } from '../harness/accounts.ts';
import { startDeployment } from '../harness/deployment.ts';
import { startHostedDeployment } from '../harness/hosted-deployment.ts';
import { addObjects, type Objects, untilLedgerReady } from '../harness/objects.ts';
import { exchange, textAt } from './exchange.ts';
import { addLanes, type Lanes } from './lanes.ts';
import type { Mode } from './mode.ts';
import { joinAs } from './people.ts';
import { BODY_BYTES_MAX, type Walked } from './walked.ts';

export interface Site extends Walked {
  readonly lanes: Lanes;
  stop(): Promise<void>;
}

interface Running {
  readonly url: string;
  readonly databaseUrl: string;
  readonly authSecret: string;
  readonly provider: ProviderSim;
  readonly tokens: Walked['tokens'];
  readonly inferenceUrl: string | null;
  /** The key of an owner with every scope; the other modes find or make theirs. */
  readonly ownerKey: string | null;
  stopRedis(): Promise<void>;
  stop(): Promise<void>;
}

export async function startSite(mode: Mode): Promise<Site> {
  const [running, guardrails] = await Promise.all([
    mode.hosted ? startHosted() : startSelfHosted(mode),
    startGuardrailSim(),
  ]);
  const adminKey = running.ownerKey ?? (await adminKeyOf(mode, running));
  const apiKey = mode.accounts ? adminKey : (running.tokens?.api ?? '');
  const accounts = openAccounts(running);
  const memory = new Map<string, Promise<unknown>>();
  const call: Walked['call'] = (method, path, sending) =>
    exchange(running.url, method, path, {
      key: path.startsWith('/v1') ? apiKey : adminKey,
      ...sending,
    });
  const account = await call('GET', '/api/account');
  const walked: Walked = {
    mode,
    url: running.url,
    adminKey,
    apiKey,
    tokens: running.tokens,
    inferenceUrl: running.inferenceUrl,
    organizationId: textAt(account, 'org.id'),
    ownerId: textAt(account, 'user.id'),
    foreign: await addForeign(accounts),
    accounts,
    stopRedis: () => running.stopRedis(),
    provider: running.provider,
    guardrails,
    call,
    once<T>(name: string, work: () => Promise<T>): Promise<T> {
      const known = memory.get(name) as Promise<T> | undefined;
      const result = known ?? work();
      if (known === undefined) memory.set(name, result);
      return result;
    },
  };
  return {
    ...walked,
    lanes: await addLanes(walked),
    async stop() {
      await accounts.close();
      await Promise.all([running.stop(), guardrails.close()]);
    },
  };
}

async function startSelfHosted(mode: Mode): Promise<Running> {
  const authSecret = randomBytes(32).toString('base64url');
  const deployment = await startDeployment({
    env: {
      RELAY_ACCOUNTS: String(mode.accounts),
      RELAY_AUTH_SECRET: authSecret,
      RELAY_MAX_BODY_BYTES: String(BODY_BYTES_MAX),
    },
  });
  return {
    url: deployment.url,
    databaseUrl: deployment.postgres.url,
    authSecret,
    provider: deployment.provider,
    tokens: { api: deployment.apiToken, admin: deployment.adminToken },
    inferenceUrl: null,
    ownerKey: null,
    stopRedis: () => deployment.redis.stop(),
    stop: () => deployment.stop(),
  };
}

async function startHosted(): Promise<Running> {
  const hosted = await startHostedDeployment();
  return {
    url: hosted.platform.url,
    databaseUrl: hosted.postgres.url,
    authSecret: hosted.env['RELAY_AUTH_SECRET'] ?? '',
    provider: hosted.provider,
    tokens: null,
    inferenceUrl: hosted.inference[0].url,
    ownerKey: hosted.acme.key,
    stopRedis: () => hosted.redis.stop(),
    stop: () => hosted.stop(),
  };
}

/** With accounts, an owner joins by invitation and makes a key with everything an owner may. */
async function adminKeyOf(mode: Mode, { url, tokens }: Running): Promise<string> {
  const admin = tokens?.admin ?? '';
  if (!mode.accounts) return admin;
  const owner = await joinAs(url, admin, 'owner');
  const scopes = (await owner.call('GET', '/api/account/api-key-scopes')).body as { scopes: string[] };
  const made = await owner.call('POST', '/api/account/api-keys', { body: { name: 'Everything', ...scopes } });
  return textAt(made, 'api_key');
}

/** Another organization with one of everything, which only a database can hold beside a self-hosted one. */
async function addForeign(accounts: Accounts): Promise<Objects> {
  await untilLedgerReady(accounts);
  const organizationId = await accounts.addOrganization({ plan: 'enterprise', name: 'Elsewhere' });
  const callerId = await accounts.addMember(organizationId, { role: 'owner' });
  const upstreamUrl = 'https://elsewhere.example.com/v1';
  return addObjects(accounts, { organizationId, callerId, upstreamUrl, suffix: '' });
}
