import type { Agent } from 'node:http';
import type { ConfigFile } from '@relay/contract';
import {
  type GuardrailSim,
  type ProviderSim,
  startGuardrailSim,
  startProviderSim,
} from '@relay/provider-sim';
import { freePort } from '@relay/testbed';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { keepAliveAgent } from '../harness/raw-exchange.ts';
import type { Cell, Who } from './cells.ts';
import { WAIT_MS_MAX } from './failure-rows.ts';
import { newKey } from './key-quotes.ts';

export const MODEL = 'sim-multi';
/** Longer than a provider on a busy machine takes to answer, shorter than one wants to wait for those that never do. */
const UPSTREAM_MS_MAX = 3_000;

/** Where one cell takes place: a lane and endpoints of its own, because failures count against an endpoint. */
export interface Place {
  readonly lane: string;
  readonly endpoints: Readonly<Record<Who, { readonly name: string; readonly key: string }>>;
}

export interface Site {
  readonly deployment: Deployment;
  readonly agent: Agent;
  readonly providers: Readonly<Record<Who, ProviderSim>>;
  /** Where redirects lead. Nothing may arrive there. */
  readonly elsewhere: ProviderSim;
  readonly places: ReadonlyMap<Cell, Place>;
  readonly endpointIds: ReadonlyMap<string, string>;
  stop(): Promise<void>;
}

export async function startSite(cells: readonly Cell[]): Promise<Site> {
  const [deployment, second, elsewhere, guardrails, closedPort] = await Promise.all([
    startDeployment({
      env: {
        RELAY_UPSTREAM_HEADERS_TIMEOUT_MS: String(UPSTREAM_MS_MAX),
        RELAY_UPSTREAM_IDLE_TIMEOUT_MS: String(UPSTREAM_MS_MAX),
      },
    }),
    startProviderSim({ models: [MODEL] }),
    startProviderSim({ models: [MODEL] }),
    startGuardrailSim({ serviceKey: 'unused' }),
    freePort(),
  ]);
  const { admin, provider: first } = deployment;
  const places = new Map(cells.map((cell, index) => [cell, placeOf(index)]));
  const { config, secrets } = configOf(places, {
    first: first.baseUrl,
    second: second.baseUrl,
    'closed port': `http://127.0.0.1:${closedPort}/v1`,
    'unknown host': 'http://provider-failures.invalid/v1',
    guardrails,
  });
  const applied = await admin.call('POST', '/api/relay/config/apply', { config, secrets });
  if (applied.status !== 200) throw new Error(`the file was refused: ${JSON.stringify(applied.body)}`);
  const { body } = await admin.call('GET', '/api/relay/endpoints');
  const listed = body as readonly { id: string; name: string }[];
  const agent = keepAliveAgent();
  return {
    deployment,
    agent,
    providers: { first, second },
    elsewhere,
    places,
    endpointIds: new Map(listed.map(({ id, name }) => [name, id])),
    async stop() {
      agent.destroy();
      await Promise.all([deployment.stop(), second.close(), elsewhere.close(), guardrails.close()]);
    },
  };
}

function placeOf(index: number): Place {
  const endpoint = (who: Who) => ({ name: `c${index}-${who}`, key: newKey() });
  return { lane: `c${index}`, endpoints: { first: endpoint('first'), second: endpoint('second') } };
}

type Addresses = Readonly<Record<Who | 'closed port' | 'unknown host', string>> & {
  readonly guardrails: GuardrailSim;
};

/** All places in one file. */
function configOf(
  places: ReadonlyMap<Cell, Place>,
  addresses: Addresses,
): { config: ConfigFile; secrets: Record<string, string> } {
  const secrets: Record<string, string> = {};
  const names = ['first', 'second', 'closed port', 'unknown host'] as const;
  const sections = {
    providers: names.map((name) => ({ name, base_url: addresses[name] })),
    credentials: [] as NonNullable<ConfigFile['credentials']>,
    endpoints: [] as NonNullable<ConfigFile['endpoints']>,
    lanes: [] as NonNullable<ConfigFile['lanes']>,
    memberships: [] as NonNullable<ConfigFile['memberships']>,
    guardrails: [
      {
        name: 'inspector',
        base_url: addresses.guardrails.urlOf('allow'),
        pre_dispatch_enabled: false,
        post_response_enabled: true,
        enabled: true,
      },
    ],
    guardrail_bindings: [] as NonNullable<ConfigFile['guardrail_bindings']>,
  };
  for (const [{ row, left, guarded }, { lane, endpoints }] of places) {
    const allow_fallback = left !== 'one, fallback not allowed';
    sections.lanes.push({ name: lane, default_max_wait_ms: WAIT_MS_MAX, allow_fallback });
    if (guarded)
      sections.guardrail_bindings.push({ guardrail: 'inspector', target_type: 'lane', target: lane });
    for (const who of left === 'none' ? (['first'] as const) : (['first', 'second'] as const)) {
      const { name, key } = endpoints[who];
      const provider = (who === 'first' ? (row.place ?? who) : who).replace(' ', '-');
      const secret_ref = `env:${name.replaceAll('-', '_')}`;
      secrets[secret_ref] = key;
      sections.credentials.push({ provider, name, secret_ref });
      sections.endpoints.push({
        name,
        provider,
        credential: name,
        upstream_model: MODEL,
        route_kind: 'multi',
      });
      sections.memberships.push({ lane, endpoint: name, manual_rank: who === 'first' ? 1 : 2 });
    }
  }
  return { config: { version: 1, ...sections }, secrets };
}
