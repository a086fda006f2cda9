import type { Endpoint } from '@relay/contract';
import { freePort } from '@relay/testbed';
import { type AdminClient, adminClient, createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { type ProviderProcess, startProviderProcess } from '../harness/provider-process.ts';

export const LANE = 'two providers';
export const SOLE_LANE = 'one provider';
/** A provider that hangs is found out after this. */
const HEADERS_MS_MAX = 1_000;

/** Three gateways, and a lane whose first provider dies. */
export interface Site {
  readonly deployment: Deployment;
  /** The first endpoint of the lane. */
  readonly endpointId: string;
  /** Of a lane that is never called. */
  readonly uncalledId: string;
  /** The only endpoint of its lane; its provider is the deployment's own. */
  readonly soleId: string;
  /** One for each gateway. */
  readonly admins: readonly AdminClient[];
  first(): ProviderProcess;
  /** Kills the first provider. */
  kill(): Promise<void>;
  /** Starts it again at the same address. */
  revive(): Promise<void>;
  endpoint(admin: AdminClient, id: string): Promise<Endpoint>;
  stop(): Promise<void>;
}

export async function startSite(): Promise<Site> {
  const port = await freePort();
  const [second, deployment] = await Promise.all([
    startProviderProcess(),
    startDeployment({
      processes: 3,
      stores: 'servers',
      env: { RELAY_UPSTREAM_HEADERS_TIMEOUT_MS: String(HEADERS_MS_MAX) },
    }),
  ]);
  let first = await startProviderProcess({ port });
  const upstreamModel = 'sim-chat';
  const { admin, adminToken } = deployment;
  const lane = await createLane(admin, {
    name: LANE,
    endpoints: [
      { baseUrl: first.baseUrl, upstreamModel },
      { baseUrl: second.baseUrl, upstreamModel },
    ],
  });
  const uncalled = await createLane(admin, {
    name: 'nobody calls',
    endpoints: [{ baseUrl: second.baseUrl, upstreamModel }],
  });
  const sole = await createLane(admin, {
    name: SOLE_LANE,
    endpoints: [{ baseUrl: deployment.provider.baseUrl, upstreamModel }],
  });
  await deployment.everywhere();
  return {
    deployment,
    endpointId: lane.endpointIds[0] ?? '',
    uncalledId: uncalled.endpointIds[0] ?? '',
    soleId: sole.endpointIds[0] ?? '',
    admins: deployment.processes.map(({ url }) => adminClient(url, adminToken)),
    first: () => first,
    kill: () => first.kill(),
    async revive() {
      first = await startProviderProcess({ port });
    },
    async endpoint({ call }, id) {
      const { status, body } = await call('GET', `/api/relay/endpoints/${id}`);
      if (status !== 200) throw new Error(`the endpoint answered ${status}: ${JSON.stringify(body)}`);
      return body as Endpoint;
    },
    async stop() {
      await deployment.stop();
      await Promise.all([first.stop(), second.stop()]);
    },
  };
}
