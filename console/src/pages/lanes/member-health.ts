import type { Endpoint } from '@relay/contract';
import { healthSentence } from '@relay/contract/words';
import { healthOrder, isUnwell } from '../../parts/health-order.ts';
import { text } from '../../text/index.ts';

/** An endpoint of a lane, as far as it decides who gets a request. */
export interface RankedEndpoint {
  readonly enabled: boolean;
  readonly endpoint: Endpoint | undefined;
}

/**
 * What is wrong with an endpoint of a lane and where its requests go; null when nothing is. Relay skips an endpoint that is down
 * unless all of them are.
 */
export function memberTrouble(
  members: readonly RankedEndpoint[],
  endpointId: string,
  nowMs: number,
): string | null {
  const own = members.find(({ endpoint }) => endpoint?.id === endpointId);
  if (own?.endpoint === undefined || !own.enabled || !isUnwell(own.endpoint.health)) return null;
  const where = whereRequestsGo(members, endpointId);
  return [healthSentence(own.endpoint, nowMs), ...(where === null ? [] : [where])].join(' ');
}

/** Where the requests of an endpoint go that is down; null of another. */
export function whereRequestsGo(members: readonly RankedEndpoint[], endpointId: string): string | null {
  const own = members.find(({ endpoint }) => endpoint?.id === endpointId);
  if (own?.enabled !== true || own.endpoint?.health !== 'down') return null;
  const isAnotherUp = members.some(
    ({ enabled, endpoint }) =>
      enabled && endpoint?.enabled === true && endpoint.id !== endpointId && endpoint.health !== 'down',
  );
  return isAnotherUp ? text.health.skipped : text.health.lastOne;
}

/** The endpoint of a lane that decides its signal, of those that get requests: the one in the worst state, else a healthy one. */
export function decidingEndpoint(members: readonly RankedEndpoint[]): Endpoint | undefined {
  const active = members.flatMap(({ enabled, endpoint }) =>
    enabled && endpoint?.enabled === true ? [endpoint] : [],
  );
  const worst = active.toSorted((a, b) => healthOrder.indexOf(a.health) - healthOrder.indexOf(b.health))[0];
  if (worst === undefined || isUnwell(worst.health)) return worst;
  return active.find(({ health }) => health === 'healthy') ?? worst;
}
