import type { Labels, Scope } from '@relay/contract';
import type { Access } from './access.ts';
import type { BudgetPolicy } from './snapshot.ts';

/** Who a request acts for. */
export interface Caller {
  readonly organizationId: string;
  readonly userId: string;
  /** Null when the caller is not a User API key (deployment tokens, browser sessions). */
  readonly keyId: string | null;
  /** Null when the caller is not a browser session. */
  readonly sessionId: string | null;
  /** A browser session that the admin token opened. Left out for every other caller. */
  readonly isAdminSession?: true;
  readonly kind: 'api_token' | 'admin_token' | 'user_key' | 'session';
  /** Effective scopes: what the key, its owner, the organization and the plan all allow. */
  readonly scopes: ReadonlySet<Scope>;
  /** Where the effective scopes come from, to explain a missing one and to decide which may be delegated. */
  readonly access: Access;
  /** The key's own budgets that are in force; empty for every other kind of caller. */
  readonly keyPolicies: readonly BudgetPolicy[];
  /** The key's team; null or omitted: its owner's. */
  readonly keyTeamId?: string | null;
  /** The key's labels; left out: none. */
  readonly labels?: Labels;
  /** The only body that this caller may send: the one that the context was signed for. */
  readonly bodyDigest?: string;
}
