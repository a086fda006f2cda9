import type { Endpoint } from '@relay/contract';
import type { Deployment } from './deployment.ts';
import { until } from './until.ts';

const HEAL_MS_MAX = 5_000;

/** Sends a request that succeeds, so that the faults before it no longer count against the endpoint. */
export async function healEndpoint(
  { url, apiToken, admin }: Deployment,
  laneOfOne: string,
  endpointId: string,
): Promise<void> {
  const isHealed = async () => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: laneOfOne, messages: [{ role: 'user', content: 'heal' }] }),
    });
    await response.text();
    if (response.status !== 200) return false;
    // Reading an endpoint brings in what the process has seen.
    const { body } = await admin.call('GET', `/api/relay/endpoints/${endpointId}`);
    return (body as Endpoint).health !== 'down';
  };
  if (!(await until(isHealed, HEAL_MS_MAX))) throw new Error(`endpoint ${endpointId} stays down`);
}
