import { headers as names } from '@relay/contract';
import { createLane } from '../harness/admin-client.ts';
import type { Deployment } from '../harness/deployment.ts';
import { until } from '../harness/until.ts';

const LANE = 'Summaries';
/** About as many tokens as the provider then reports. */
const NOTES = 'The release moves to Tuesday, and Ada writes the notes. '.repeat(250);
/** A change of limits is known to gateways within a second. */
const TRIES_MAX = 20;
const RECORDED_MS_MAX = 30_000;

/**
 * A stream that waited for another one, was turned away by the first endpoint with 429, and was answered by the second. Answers
 * its id once it is recorded.
 */
export async function seedFallback(site: Deployment): Promise<string> {
  const { admin, provider } = site;
  const { laneId, endpointIds } = await createLane(admin, {
    name: LANE,
    endpoints: ['sim-chat', 'sim-chat-b'].map((upstreamModel) => ({
      baseUrl: provider.baseUrl,
      upstreamModel,
    })),
  });
  for (const endpointId of endpointIds)
    await admin.create('/api/relay/pricing-policies', {
      endpoint_id: endpointId,
      input_cost_micros_per_1m_tokens: 400_000,
      cached_input_cost_micros_per_1m_tokens: 40_000,
      output_cost_micros_per_1m_tokens: 1_600_000,
    });
  await admin.create('/api/relay/limit-policies', {
    scope_type: 'lane',
    scope_id: laneId,
    metric: 'concurrency',
    period: 'none',
    limit_value: 1,
  });
  for (let tries = 0; tries < TRIES_MAX && (await askTwice(site)) === null; tries += 1);
  // Of two concurrent requests the second waits for the first, and then matches the rule.
  provider.script({ match: { model: 'sim-chat', nth: 2 }, fault: { status: 429 } });
  const requestId = await askTwice(site);
  if (requestId === null) throw new Error('no request had to wait');
  await untilRecorded(site, requestId);
  return requestId;
}

/** The id of the one that waited; null when none did. */
async function askTwice(site: Deployment): Promise<string | null> {
  const both = await Promise.all([askOnce(site), askOnce(site)]);
  return both.find(({ waitMs }) => waitMs > 0)?.requestId ?? null;
}

async function askOnce(site: Deployment): Promise<{ requestId: string; waitMs: number }> {
  const response = await fetch(`${site.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${site.apiToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: LANE.toLowerCase(),
      messages: [{ role: 'user', content: `Sum up what was agreed on today: ${NOTES}` }],
      max_tokens: 60,
      stream: true,
      sim: { delayMs: 200, promptTokens: 3_412, cachedTokens: 2_048, outputTokens: 48, frameDelayMs: 6 },
    }),
  });
  await response.arrayBuffer();
  return {
    requestId: response.headers.get(names.requestId) ?? '',
    waitMs: Number(response.headers.get(names.waitMs) ?? 0),
  };
}

export async function untilRecorded(site: Deployment, requestId: string): Promise<void> {
  const isInTime = await until(async () => {
    const { status } = await site.admin.call('GET', `/api/relay/requests/${requestId}`);
    return status === 200;
  }, RECORDED_MS_MAX);
  if (!isInTime) throw new Error(`the request ${requestId} was not recorded in time`);
}
