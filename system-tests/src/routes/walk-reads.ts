import { allRoutes, type RouteId } from '@relay/contract';
import { addressOf, sampleOf } from '../harness/examples.ts';
import type { Objects } from '../harness/objects.ts';
import type { Caller } from './answer.ts';
import type { World } from './world.ts';

/** Posts that change nothing. */
export const reading: readonly RouteId[] = [
  'explainRouting',
  'planConfig',
  'planPrices',
  'whatIf',
  'testProvider',
  'testEndpoint',
  'testGuardrail',
  'testAlertDestination',
];

const reads = allRoutes.filter(
  ({ id, plane, method, access }) =>
    plane === 'management' &&
    access !== 'session_only' &&
    access !== 'public' &&
    (method === 'GET' || reading.includes(id)),
);

/** Every route that changes nothing, by its example. */
export async function walkReads({ walk }: World, caller: Caller, objects: Objects): Promise<void> {
  for (const route of reads) {
    const sample = sampleOf[route.id](objects);
    const line = `${route.method} ${addressOf(route, sample)}`;
    await walk.expect(caller, line, String(route.success.status), { body: sample.body });
  }
}
