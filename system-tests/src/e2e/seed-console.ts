import { createLane } from '../harness/admin-client.ts';
import type { Deployment } from '../harness/deployment.ts';
import { seedTraffic } from './seed-traffic.ts';

export interface Seeded {
  readonly laneId: string;
}

const REQUESTS = 90;
/** Sums are there when the worker has moved the requests into the ledger. */
const LEDGER_MS_MAX = 20_000;

/** What a deployment in use looks like: providers, endpoints with prices, lanes, keys, and traffic through all of them. */
export async function seedConsole(site: Deployment): Promise<Seeded> {
  const { admin, provider } = site;
  const baseUrl = provider.baseUrl;
  const { laneId, endpointIds } = await createLane(admin, {
    name: 'Assistant',
    lane: { description: 'What the support bot calls' },
    endpoints: ['sim-chat', 'sim-chat-b', 'sim-multi'].map((upstreamModel) => ({ baseUrl, upstreamModel })),
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
  for (const name of ['Support bot', 'Nightly batch'])
    await admin.create('/api/account/api-keys', { name, scopes: ['relay:request'] });
  await seedTraffic(site, { requests: REQUESTS, models: ['assistant', 'assistant', 'batch-jobs'] });
  await untilCounted(site);
  return { laneId };
}

async function untilCounted(site: Deployment): Promise<void> {
  const endMs = Date.now() + LEDGER_MS_MAX;
  for (;;) {
    const { body } = await site.admin.call('GET', '/api/relay/stats/summary');
    if ((body as { requests: number }).requests >= REQUESTS) return;
    if (Date.now() > endMs) throw new Error('the requests did not reach the ledger in time');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
