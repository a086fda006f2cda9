import { createLane } from '../harness/admin-client.ts';
import type { Deployment } from '../harness/deployment.ts';
import { until } from '../harness/until.ts';
import { type LiveTraffic, liveTraffic } from './live-traffic.ts';
import { seedPeople } from './people.ts';
import { GUARDED_REQUESTS, seedGuardrails } from './seed-guardrails.ts';
import { seedHistory } from './seed-history.ts';
import { type SeedKey, seedLimits } from './seed-limits.ts';
import { seedFallback } from './seed-requests.ts';
import { seedTraffic } from './seed-traffic.ts';

export interface Seeded {
  readonly laneId: string;
  /** A guardrail with a month behind it. */
  readonly guardrailId: string;
  /** A request that waited, fell back and was answered. */
  readonly requestId: string;
  /** A limit with a month behind it. */
  readonly limitId: string;
  /** Requests that stay in flight while a picture is taken. */
  readonly live: LiveTraffic;
}

const REQUESTS = 60;
/** Sums are there when the worker has moved the requests into the ledger. */
const LEDGER_MS_MAX = 30_000;

/** What a deployment in use looks like: providers, endpoints with prices, lanes, keys, and traffic through all of them. */
export async function seedConsole(site: Deployment): Promise<Seeded> {
  const { admin, provider } = site;
  const baseUrl = provider.baseUrl;
  const { laneId, endpointIds } = await createLane(admin, {
    name: 'Assistant',
    lane: { description: 'Support', default_max_wait_ms: 2_000 },
    endpoints: ['sim-chat', 'sim-chat-b', 'sim-multi'].map((upstreamModel) => ({ baseUrl, upstreamModel })),
  });
  // A change, for the audit log to tell of.
  await admin.call('PUT', `/api/relay/routing-lanes/${laneId}`, {
    name: 'Assistant',
    description: 'What the support bot calls',
    default_max_wait_ms: 5_000,
    allow_fallback: true,
    enabled: true,
  });
  await createLane(admin, { name: 'Embeddings', endpoints: [{ baseUrl, upstreamModel: 'sim-embed' }] });
  const batch = await createLane(admin, {
    name: 'Batch jobs',
    endpoints: [{ baseUrl, upstreamModel: 'sim-multi' }],
    lane: { default_max_wait_ms: 30_000, selection: 'soonest' },
  });
  for (const [index, endpointId] of [...endpointIds, ...batch.endpointIds].entries()) {
    await admin.create('/api/relay/pricing-policies', {
      endpoint_id: endpointId,
      input_cost_micros_per_1m_tokens: 400_000 * (index + 1),
      output_cost_micros_per_1m_tokens: 1_600_000 * (index + 1),
    });
  }
  await admin.create('/api/relay/providers', {
    name: 'OpenAI',
    base_url: 'https://api.openai.com/v1',
    preset_slug: 'openai',
  });
  const keys: SeedKey[] = [];
  for (const name of ['Support bot', 'Nightly batch', 'Mobile app', 'Search index'])
    keys.push(keyOf(await admin.create('/api/account/api-keys', { name, scopes: ['relay:request'] })));
  await seedPeople(site);
  const before = await seedHistory(site);
  const guardrailId = await seedGuardrails(site, laneId);
  await seedTraffic(site, { requests: REQUESTS, models: ['assistant', 'assistant', 'batch-jobs'] });
  await untilCounted(site, before + GUARDED_REQUESTS + REQUESTS);
  const requestId = await seedFallback(site);
  const [close, spent] = keys;
  const [providerId] = batch.providerIds;
  if (close === undefined || spent === undefined || providerId === undefined)
    throw new Error('keys and providers come first');
  const limitId = await seedLimits(site, { laneId, providerId, close, spent });
  return {
    laneId,
    requestId,
    guardrailId,
    limitId,
    live: liveTraffic(site, { assistantId: endpointIds[0] ?? '', batchId: batch.endpointIds[0] ?? '' }),
  };
}

function keyOf(created: Readonly<Record<string, unknown>>): SeedKey {
  const { id, user_uuid: ownerId } = created['key'] as { id: string; user_uuid: string };
  return { id, ownerId, secret: String(created['api_key']) };
}

async function untilCounted(site: Deployment, requests: number): Promise<void> {
  const isInTime = await until(async () => {
    const { body } = await site.admin.call('GET', '/api/relay/stats/summary');
    return (body as { requests: number }).requests >= requests;
  }, LEDGER_MS_MAX);
  if (!isInTime) throw new Error('the requests did not reach the ledger in time');
}
