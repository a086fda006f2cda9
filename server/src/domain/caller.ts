import type { Scope } from '@relay/contract';

/** Who a request acts for, as far as any room behind the door needs to know. */
export interface Caller {
  readonly organizationId: string;
  readonly userId: string;
  /** Null when the caller is not a User API key (deployment tokens, browser sessions). */
  readonly keyId: string | null;
  readonly kind: 'api_token' | 'admin_token' | 'user_key' | 'session';
  /** Effective: already cut down to what the owner, the organization and the plan allow. */
  readonly scopes: ReadonlySet<Scope>;
}
