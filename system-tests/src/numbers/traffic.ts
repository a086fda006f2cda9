import { randomBytes } from 'node:crypto';
import { createRandom, type Random } from '../chaos/random.ts';
import { openAccounts } from '../harness/accounts.ts';
import { createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { sendTagged, type TaggedAnswer } from '../harness/tagged-request.ts';
import { afterMs } from '../harness/until.ts';

const REQUESTS = 240;
/** Over this time they are sent: more than `narrow` can serve. */
const SENT_OVER_MS = 5_000;
const PRICES = { input_cost_micros_per_1m_tokens: 1_234_567, output_cost_micros_per_1m_tokens: 7_654_321 };

/** A failure that the provider bills. */
const FAILED = {
  error: { message: 'It broke.', type: 'server_error' },
  usage: { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 },
};

/** A gateway whose requests wait, fail, fall back and stream. */
export interface Traffic {
  readonly deployment: Deployment;
  readonly laneIds: Readonly<Record<string, string>>;
  readonly answers: readonly TaggedAnswer[];
  stop(): Promise<void>;
}

export async function sendTraffic(seed: number): Promise<Traffic> {
  const authSecret = randomBytes(32).toString('base64url');
  const deployment = await startDeployment({
    stores: 'servers',
    env: { RELAY_ACCOUNTS: 'true', RELAY_AUTH_SECRET: authSecret },
    provider: { models: ['large', 'small', 'flaky', 'free'] },
  });
  const accounts = openAccounts({ databaseUrl: deployment.postgres.url, authSecret });
  try {
    deployment.provider.script({
      match: { model: 'flaky', every: 3 },
      fault: { status: 500, body: FAILED },
      persistent: true,
    });
    const laneIds = await addLanes(deployment);
    const organizationId = await organizationOf(deployment);
    const tokens: string[] = [deployment.apiToken];
    for (const role of ['developer', 'developer'] as const) {
      const userId = await accounts.addMember(organizationId, { role });
      for (const name of ['One', 'Two'])
        tokens.push((await accounts.addKey({ organizationId, userId, name, scopes: ['relay:request'] })).key);
    }
    await deployment.everywhere();
    const answers = await sendAll(deployment.url, createRandom(seed), tokens);
    return { deployment, laneIds, answers, stop: () => deployment.stop() };
  } catch (error) {
    await deployment.stop();
    throw error;
  } finally {
    await accounts.close();
  }
}

/** `narrow` lets few requests in and has a short wait budget; `pair` falls back from one that fails and bills to one without a price. */
async function addLanes({ admin, provider }: Deployment): Promise<Record<string, string>> {
  const at = (upstreamModel: string) => ({ baseUrl: provider.baseUrl, upstreamModel });
  const narrow = await createLane(admin, {
    name: 'narrow',
    endpoints: [at('large')],
    lane: { default_max_wait_ms: 2_000 },
  });
  const pair = await createLane(admin, { name: 'pair', endpoints: [at('flaky'), at('free')] });
  const wide = await createLane(admin, { name: 'wide', endpoints: [at('small')] });
  for (const endpoint_id of [narrow.endpointIds[0], pair.endpointIds[0], wide.endpointIds[0]])
    await admin.create('/api/relay/pricing-policies', { endpoint_id, currency: 'USD', ...PRICES });
  const limit = { scope_type: 'endpoint', scope_id: narrow.endpointIds[0], enabled: true };
  await admin.create('/api/relay/limit-policies', {
    ...limit,
    metric: 'concurrency',
    period: 'none',
    limit_value: 1,
  });
  for (const [metric, limit_value] of [
    ['requests', 1_000_000],
    ['tokens', 1_000_000_000],
  ] as const)
    await admin.create('/api/relay/limit-policies', {
      scope_type: 'global',
      metric,
      period: 'day',
      limit_value,
      enabled: true,
    });
  return { narrow: narrow.laneId, pair: pair.laneId, wide: wide.laneId };
}

async function organizationOf({ admin }: Deployment): Promise<string> {
  const { body } = await admin.call('GET', '/api/account');
  return (body as { org: { id: string } }).org.id;
}

async function sendAll(url: string, random: Random, tokens: readonly string[]): Promise<TaggedAnswer[]> {
  const sending = Array.from({ length: REQUESTS }, async (_, number) => {
    const model = random.pick(['narrow', 'narrow', 'pair', 'wide']);
    const fails = random.chance(0.05);
    const sim = {
      outputTokens: random.between(1, 60),
      delayMs: random.chance(0.3) ? random.between(1, 900) : random.between(1, 60),
      ...(fails && { status: random.pick([500, 503]) }),
      ...(random.chance(0.2) && { cachedTokens: 1 }),
    };
    const request = {
      url,
      token: random.pick(tokens),
      model,
      tag: `numbers-${number}`,
      stream: random.chance(0.4),
      maxTokens: 100,
      sim,
    };
    const leaves = random.chance(0.05);
    await afterMs(random.between(0, SENT_OVER_MS));
    const sent = sendTagged(request);
    if (leaves) {
      await afterMs(30);
      sent.abort();
    }
    return sent.answer;
  });
  return Promise.all(sending);
}
