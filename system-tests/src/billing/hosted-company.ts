import { randomBytes } from 'node:crypto';
import { allScopes, type BillingHistory, type StripeEventReceipt } from '@relay/contract';
import { type Accounts, openAccounts } from '../harness/accounts.ts';
import { type AdminClient, adminClient, createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { type Signing, type StripeEvent, signedBy } from '../harness/stripe-account.ts';

const WEBHOOK_SECRET = `whsec_${randomBytes(24).toString('base64url')}`;

/** An organization of a hosted deployment, and a key of its owner. */
export interface Tenant {
  readonly organizationId: string;
  readonly userId: string;
  readonly key: string;
  readonly keyId: string;
  readonly api: AdminClient;
}

/** Two processes on the same stores, to which Stripe sends. */
export interface Hosted {
  readonly deployment: Deployment;
  readonly accounts: Accounts;
  addTenant(): Promise<Tenant>;
  /** Delivers an event to one of the processes. */
  deliver(event: StripeEvent, how?: Delivery): Promise<Receipt>;
  stop(): Promise<void>;
}

export interface Delivery extends Partial<Signing> {
  readonly process?: number;
  /** What becomes of the body after it was signed. */
  readonly alter?: (body: string) => string;
}

export interface Receipt {
  readonly status: number;
  readonly outcome: StripeEventReceipt['outcome'] | undefined;
  readonly error: { readonly code: string; readonly param: string | null } | undefined;
}

export async function startHosted(): Promise<Hosted> {
  const authSecret = randomBytes(32).toString('base64url');
  const deployment = await startDeployment({
    processes: 2,
    env: {
      RELAY_MODE: 'hosted',
      RELAY_AUTH_SECRET: authSecret,
      RELAY_STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    },
  });
  const accounts = openAccounts({ databaseUrl: deployment.postgres.url, authSecret });
  const urlOf = (process: number) => deployment.processes[process]?.url ?? deployment.url;
  return {
    deployment,
    accounts,
    async addTenant() {
      const organizationId = await accounts.addOrganization({ plan: 'free' });
      const userId = await accounts.addMember(organizationId, { role: 'owner' });
      const { id: keyId, key } = await accounts.addKey({ organizationId, userId, scopes: allScopes });
      return { organizationId, userId, key, keyId, api: adminClient(deployment.url, key) };
    },
    async deliver(
      event,
      { process = 0, secret = WEBHOOK_SECRET, atMs, alter = (body: string) => body } = {},
    ) {
      const { body, header } = signedBy(event, atMs === undefined ? { secret } : { secret, atMs });
      const response = await fetch(`${urlOf(process)}/api/billing/stripe-webhook`, {
        method: 'POST',
        headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': header },
        body: alter(body),
      });
      const answer = (await response.json()) as Pick<Receipt, 'outcome' | 'error'>;
      return { status: response.status, outcome: answer.outcome, error: answer.error };
    },
    async stop() {
      await accounts.close();
      await deployment.stop();
    },
  };
}

export async function historyOf({ api }: Tenant): Promise<BillingHistory> {
  const { status, body } = await api.call('GET', '/api/billing/history');
  if (status !== 200) throw new Error(`the history answered ${status}: ${JSON.stringify(body)}`);
  return body as BillingHistory;
}

export async function planOf({ accounts }: Hosted, { organizationId }: Tenant): Promise<unknown> {
  const [row] = await accounts.query('select plan from organizations where id = $1', [organizationId]);
  return row?.['plan'];
}

const LANE = 'main';

/** A lane with prices, for an organization that is to send requests. */
export async function addPricedLane({ deployment }: Hosted, { api }: Tenant): Promise<void> {
  const { endpointIds } = await createLane(api, {
    name: LANE,
    endpoints: [{ baseUrl: deployment.provider.baseUrl, upstreamModel: 'sim-multi' }],
  });
  await api.create('/api/relay/pricing-policies', {
    endpoint_id: endpointIds[0],
    input_cost_micros_per_1m_tokens: 1_000_000,
    output_cost_micros_per_1m_tokens: 4_000_000,
  });
}

/** One request, sent to one of the processes: its status and the code of its error. */
export async function ask(
  { deployment }: Hosted,
  { key }: Tenant,
  process: number,
): Promise<{ answer: string; costMicros: number }> {
  const response = await fetch(`${deployment.processes[process]?.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: LANE, messages: [{ role: 'user', content: 'Count.' }], max_tokens: 50 }),
  });
  const { error } = (await response.json()) as { error?: { code: string } };
  return {
    answer: [response.status, ...(error === undefined ? [] : [error.code])].join(' '),
    costMicros: Number(response.headers.get('x-relay-actual-cost-micros')),
  };
}
