import { createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { type PacedProvider, startPacedProvider } from './paced-provider.ts';
import type { Wire } from './plays.ts';

/** What the client speaks, and what the provider speaks. */
export interface Direction {
  readonly client: Wire;
  readonly wire: Wire;
}

export const directions: readonly Direction[] = [
  { client: 'chat', wire: 'chat' },
  { client: 'responses', wire: 'responses' },
  { client: 'messages', wire: 'messages' },
  { client: 'chat', wire: 'messages' },
  { client: 'messages', wire: 'chat' },
  { client: 'responses', wire: 'chat' },
  { client: 'responses', wire: 'messages' },
];

export const nameOf = ({ client, wire }: Direction) => (client === wire ? client : `${client} as ${wire}`);

export type Candidates = 'one' | 'two';
/** Lanes with their own endpoints, so that failures of one test take no endpoint of another out of service. */
export const sets = ['silent', 'cut', 'ended', 'held', 'unmarked', 'broken', 'clients', 'failing'] as const;
export type LaneSet = (typeof sets)[number];
export const laneOf = (set: LaneSet, wire: Wire, candidates: Candidates) => `${set}-${wire}-${candidates}`;

export interface Site {
  readonly deployment: Deployment;
  readonly provider: PacedProvider;
  stop(): Promise<void>;
}

export async function startSite(): Promise<Site> {
  const [deployment, provider] = await Promise.all([startDeployment(), startPacedProvider()]);
  await Promise.all(sets.map((set) => createLanes(deployment, provider, set)));
  await deployment.everywhere();
  return {
    deployment,
    provider,
    async stop() {
      await deployment.stop();
      await provider.close();
    },
  };
}

async function createLanes(deployment: Deployment, provider: PacedProvider, set: LaneSet): Promise<void> {
  for (const wire of ['chat', 'responses', 'messages'] as const)
    for (const candidates of ['one', 'two'] as const) {
      const places = candidates === 'one' ? ['first'] : ['first', 'second'];
      const endpoints = places.map((place) => ({
        baseUrl: provider.urlOf(place),
        upstreamModel: 'played-model',
        endpoint: { protocol: wire === 'messages' ? 'anthropic' : 'openai', route_kind: wire },
      }));
      await createLane(deployment.admin, { name: laneOf(set, wire, candidates), endpoints });
    }
}
