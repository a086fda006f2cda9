import type { components } from '@relay/contract/api-types';

/** What Relay metered of an endpoint in a time. */
export type Metered = components['schemas']['MeteredUsage']['rows'][number];
export type Policy = components['schemas']['PricingPolicy'];

export interface Endpoint {
  readonly id: string;
  readonly name: string;
}
