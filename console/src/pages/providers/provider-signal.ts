import type { Endpoint, Provider } from '@relay/contract';
import type { SeenHealth } from '@relay/contract/words';
import { healthOrder, isUnwell } from '../../parts/health-order.ts';

/** The one state that is shown of a provider. */
export interface ProviderSignal {
  readonly of: SeenHealth & Pick<Provider, 'health_detail'>;
  /** The endpoint with this state, where the provider itself has nothing wrong; null for the provider's own. */
  readonly endpoint: Endpoint | null;
  /** How many endpoints are not healthy. */
  readonly unwell: number;
}

/** Its own, or that of its worst endpoint: an endpoint can be down at a provider that is idle or otherwise healthy. */
export function signalOf(provider: Provider, endpoints: readonly Endpoint[]): ProviderSignal {
  const unwell = endpoints
    .filter(({ health }) => isUnwell(health))
    .toSorted((a, b) => healthOrder.indexOf(a.health) - healthOrder.indexOf(b.health));
  const worst = unwell[0];
  const isOwn = worst === undefined || isUnwell(provider.health);
  return { of: isOwn ? provider : worst, endpoint: isOwn ? null : worst, unwell: unwell.length };
}
