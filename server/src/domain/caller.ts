import type { Scope } from '@relay/contract';
import type { Access } from './access.ts';
import type { BudgetPolicy } from './snapshot.ts';

/** Who a request acts for, as far as any room behind the door needs to know. */
export interface Caller {
  readonly organizationId: string;
  readonly userId: string;
  /** Null when the caller is not a User API key (deployment tokens, browser sessions). */
  readonly keyId: string | null;
  /** Null when the caller is not a browser session. */
  readonly sessionId: string | null;
  readonly kind: 'api_token' | 'admin_token' | 'user_key' | 'session';
  /** Effective: already cut down to what the owner, the organization and the plan allow. */
  readonly scopes: ReadonlySet<Scope>;
  /** Where the effective scopes come from, to say why one is absent and what may be passed on. */
  readonly access: Access;
  /** The budgets of this very key that are in force; empty for every other kind of caller. */
  readonly keyPolicies: readonly BudgetPolicy[];
  /** The only body that this caller may send: that of the request which a context was signed for. */
  readonly bodyDigest?: string;
}
