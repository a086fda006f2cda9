import { randomBytes } from 'node:crypto';
import type { Agent } from 'node:http';
import type { GuardrailPreset, LimitUsage } from '@relay/contract';
import { type GuardrailSim, startGuardrailSim } from '@relay/provider-sim';
import { freePort } from '@relay/testbed';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { keepAliveAgent } from '../harness/raw-exchange.ts';
import type { Cell } from './cell.ts';
import { configOf, ELSEWHERE } from './config.ts';

/** A deployment in which every cell of the table has a place of its own. */
export interface Site {
  readonly deployment: Deployment;
  readonly guardrails: GuardrailSim;
  readonly agent: Agent;
  /** By slug. */
  readonly guardrailIds: ReadonlyMap<string, string>;
  /** Ids of lanes and endpoints, by slug. */
  readonly laneIds: ReadonlyMap<string, string>;
  readonly endpointIds: ReadonlyMap<string, string>;
  stop(): Promise<void>;
}

interface Named {
  readonly id: string;
  readonly slug: string;
}

/** `cells` by the name of their place. */
export async function startSite(cells: ReadonlyMap<string, Cell>): Promise<Site> {
  const serviceKey = randomBytes(12).toString('hex');
  const [deployment, guardrails] = await Promise.all([startDeployment(), startGuardrailSim({ serviceKey })]);
  const { admin, provider } = deployment;
  const { config, secrets } = configOf(cells, {
    providerUrl: provider.baseUrl,
    guardrails,
    serviceKey,
    closedPort: await freePort(),
    presets: (await admin.call('GET', '/api/relay/guardrail-presets')).body as GuardrailPreset[],
  });
  config.lanes?.push({ name: ELSEWHERE });
  const applied = await admin.call('POST', '/api/relay/config/apply', { config, secrets });
  if (applied.status !== 200) throw new Error(`the file was refused: ${JSON.stringify(applied.body)}`);
  // Tests bind guardrails by themselves, which the file would own.
  const released = await admin.call('POST', '/api/relay/config/apply', {
    config: { version: 1 },
    release: true,
  });
  if (released.status !== 200) throw new Error(`the file was not released: ${JSON.stringify(released.body)}`);
  const idsOf = async (path: string) => {
    const { body } = await admin.call('GET', `/api/relay/${path}`);
    return new Map((body as readonly Named[]).map(({ id, slug }) => [slug, id]));
  };
  const agent = keepAliveAgent();
  return {
    deployment,
    guardrails,
    agent,
    guardrailIds: await idsOf('guardrails'),
    laneIds: await idsOf('routing-lanes'),
    endpointIds: await idsOf('endpoints'),
    async stop() {
      agent.destroy();
      await Promise.all([deployment.stop(), guardrails.close()]);
    },
  };
}

/** Binds a guardrail to everything while `work` runs. */
export async function boundToAll<T>(
  site: Site,
  slugs: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const bind = async (bindings: readonly object[]) => {
    for (const slug of slugs) {
      const path = `/api/relay/guardrails/${site.guardrailIds.get(slug)}/bindings`;
      const { status, body } = await site.deployment.admin.call('PUT', path, { bindings });
      if (status !== 200) throw new Error(`PUT ${path} answered ${status}: ${JSON.stringify(body)}`);
    }
  };
  await bind([{ target_type: 'global' }]);
  try {
    return await work();
  } finally {
    await bind([]);
  }
}

/** Every limit there is, with what is used of it. */
export async function allUsage({ deployment: { admin } }: Site): Promise<LimitUsage[]> {
  const found: LimitUsage[] = [];
  let path = '/api/relay/limits/usage?limit=1000';
  for (;;) {
    const { status, body, headers } = await admin.call('GET', path);
    if (status !== 200) throw new Error(`${path} answered ${status}`);
    found.push(...(body as LimitUsage[]));
    const cursor = headers.get('x-next-cursor');
    if (cursor === null) return found;
    path = `/api/relay/limits/usage?limit=1000&cursor=${cursor}`;
  }
}
