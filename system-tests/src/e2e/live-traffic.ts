import type { Deployment } from '../harness/deployment.ts';
import { until } from '../harness/until.ts';
import { holdRequests } from './held-requests.ts';
import { seedTraffic } from './seed-traffic.ts';

const COOLS_DOWN_S = 15;
const COOLDOWN_OVER_MS_MAX = 2 * COOLS_DOWN_S * 1_000;
const ASSISTANTS = 5;
const AT_ONCE = 4;
const ENDED = 16;
/** Long enough for a picture; then nothing keeps the deployment from stopping. */
const HELD_MS = 12_000;

/** Traffic held open for a picture: a lane with a queue, one with a fallback, and an idle one. */
export interface LiveTraffic {
  /** What an earlier picture has left is ended first. */
  begin(): Promise<void>;
}

export function liveTraffic(
  site: Deployment,
  endpoints: { readonly assistantId: string; readonly batchId: string },
): LiveTraffic {
  const { admin, provider } = site;
  const held = holdRequests(site);
  let ending: NodeJS.Timeout | undefined;

  /** One refusal, once nothing is left of an earlier one. */
  async function coolDown(): Promise<void> {
    await untilOpen();
    provider.script({
      match: { model: 'sim-chat' },
      fault: { status: 429, retryAfter: String(COOLS_DOWN_S) },
    });
    await seedTraffic(site, { requests: 1, models: ['assistant'] });
  }

  async function untilOpen(): Promise<void> {
    const isOpen = await until(async () => {
      const { body } = await admin.call('GET', `/api/relay/endpoints/${endpoints.assistantId}`);
      return (body as { cooldown_until: string | null }).cooldown_until === null;
    }, COOLDOWN_OVER_MS_MAX);
    if (!isOpen) throw new Error('the cooldown of the endpoint did not end');
  }

  return {
    async begin() {
      held.end();
      clearTimeout(ending);
      await admin.call('PUT', `/api/relay/endpoints/${endpoints.batchId}`, { max_concurrency: AT_ONCE });
      await coolDown();
      // What was held for the picture before is no longer among those that ended last.
      await seedTraffic(site, { requests: ENDED, models: ['summaries', 'assistant', 'batch-jobs'] });
      held.hold('assistant', ASSISTANTS);
      held.hold('batch-jobs', AT_ONCE + 3);
      ending = setTimeout(() => held.end(), HELD_MS);
    },
  };
}
