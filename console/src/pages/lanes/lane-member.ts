import type { Endpoint, Membership } from '@relay/contract';

/** A place in a lane with who holds it; the endpoint is absent until the list of endpoints is known. */
export interface LaneMember {
  readonly membership: Membership;
  readonly endpoint: Endpoint | undefined;
}
