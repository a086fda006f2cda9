import type { ProviderSim, RequestLogEntry } from '@relay/provider-sim';
import { createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';

/** A deployment as client libraries are pointed at it. */
export interface ClientDeployment {
  readonly baseUrl: string;
  readonly apiToken: string;
  readonly provider: ProviderSim;
  /** The requests the provider got since the last call, oldest first. */
  newRequests(): RequestLogEntry[];
  /** Creates a lane with its own endpoint, so that cooldowns do not affect other tests; returns its slug. */
  laneOfItsOwn(maxWaitMs: number): Promise<string>;
  stop(): Promise<void>;
}

/** The names by which one and the same endpoint can be asked for. */
export const callNames = ['client-lane', 'client-lane-1/sim-multi', 'sim-multi'] as const;

/** A lane whose only endpoint speaks Anthropic's protocol. */
export const messagesLane = 'messages-lane';

export const weatherQuestion = 'What is the weather in Zürich?';
/** A PNG of one pixel. */
export const pixelBase64 =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

export async function startClientDeployment(): Promise<ClientDeployment> {
  const deployment: Deployment = await startDeployment();
  const { provider } = deployment;
  await createLane(deployment.admin, {
    name: 'Client lane',
    endpoints: [{ baseUrl: provider.baseUrl, upstreamModel: 'sim-multi' }],
  });
  await createLane(deployment.admin, {
    name: 'Messages lane',
    endpoints: [
      {
        baseUrl: provider.baseUrl,
        upstreamModel: 'sim-claude',
        provider: { auth_mode: 'header_static', auth_header_name: 'x-api-key' },
        endpoint: { protocol: 'anthropic' },
      },
    ],
  });
  let lanes = 0;
  let seenId = 0;
  return {
    baseUrl: `${deployment.url}/v1`,
    apiToken: deployment.apiToken,
    provider,
    newRequests() {
      const fresh = provider.log.filter(({ id }) => id > seenId);
      seenId = provider.log.at(-1)?.id ?? seenId;
      return fresh;
    },
    async laneOfItsOwn(maxWaitMs) {
      lanes += 1;
      await createLane(deployment.admin, {
        name: `Own lane ${lanes}`,
        lane: { default_max_wait_ms: maxWaitMs },
        endpoints: [{ baseUrl: provider.baseUrl, upstreamModel: 'sim-chat' }],
      });
      return `own-lane-${lanes}`;
    },
    stop: () => deployment.stop(),
  };
}
