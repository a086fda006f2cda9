import type { KeyObject } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import type { AdmissionDesk } from '../../admission/desk.ts';
import type { PolicyUsage } from '../../admission/engine.ts';
import type { EndpointHealth } from '../../admission/health/endpoint-health.ts';
import type { FlowsAsk } from '../../admission/live-flows.ts';
import type { LiveTraffic } from '../../admission/live-lanes.ts';
import type { AppliedLimit } from '../../domain/limits/limit.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Egress } from '../../kit/egress/index.ts';
import type { Sealer } from '../../kit/seal.ts';
import type { Mail } from '../../mail/mail.ts';
import type { TypicalTokens } from '../../protocols/protocol.ts';
import type { UpstreamAuth } from '../../protocols/upstream-auth/create-upstream-auth.ts';
import type { Snapshots } from '../../store/configuration/snapshots.ts';
import type { Fences } from '../../store/keys/fences.ts';
import type { Database } from '../../store/postgres/schema.ts';

export interface ManagementDeps {
  /** A connection that can only see one organization, whatever a query says. */
  readonly ofOrganization: (organizationId: string) => Kysely<Database>;
  /** The same for statistics, which may be read from a replica that lags. */
  readonly statisticsOf: (organizationId: string) => Kysely<Database>;
  /**
   * A fence is raised after access was removed and before the response, so that no gateway uses the old state.
   */
  readonly fences: Pick<Fences, 'raise'>;
  /** Writes of the configuration go into this transaction, whose owner rolls it back: no audit entry, no version, no fence. */
  readonly dryRun?: Transaction<Database>;
  readonly sealer: Sealer;
  /** The key for the digests of User API keys. */
  readonly keyPepper: () => KeyObject;
  readonly randomBytes: (size: number) => Buffer;
  readonly egress: Pick<Egress, 'check'>;
  /** Opens a separate egress for one connection test; the caller closes it. */
  readonly openEgress: () => Pick<Egress, 'dispatch' | 'close'>;
  readonly upstreamAuth: UpstreamAuth;
  readonly snapshots: Pick<Snapshots, 'refreshNow' | 'get' | 'load'>;
  readonly admission: Pick<AdmissionDesk, 'cooldownUntilMs' | 'refuseInLine'>;
  /** What all gateways have seen of endpoints. */
  readonly health: Pick<EndpointHealth, 'read'>;
  readonly clock: Clock;
  /** UUIDv7, so that order by id is order of creation. */
  readonly newId: () => string;
  readonly deployment: Deployment;
  readonly billing: Billing;
  /** The public URL of this deployment without a trailing slash, for links. */
  readonly publicUrl: string;
  /** Null: the deployment sends no e-mail. */
  readonly mail: Mail | null;
  /** What requests of a lane (by id) or model use without saying it in advance, as far as this process has observed it. */
  readonly typicalTokens: (organizationId: string, laneIdOrModel: string) => TypicalTokens;
  /**
   * The live state of limits, in the given order. Throws `store_unavailable` when the limits engine's store is
   * unavailable.
   */
  readonly limitUsage: (organizationId: string, policies: readonly AppliedLimit[]) => Promise<PolicyUsage[]>;
  /** The maximum number of requests of one caller that wait in one lane. */
  readonly waitersMax: number;
  /** Until when the ledger has everything; null while that is not known. From memory. */
  readonly ledgerCompleteUntilMs: () => number | null;
  /** Requests in flight in the whole deployment. Throws like `limitUsage`. */
  readonly liveTraffic: (ask: FlowsAsk) => Promise<LiveTraffic>;
}

export interface Deployment {
  readonly mode: 'self_hosted' | 'hosted';
  readonly accounts: boolean;
  readonly version: string;
}

export interface Billing {
  /** Not restricted to an organization: a Stripe event has no caller and may be about any organization. */
  readonly db: Kysely<Database>;
  /** The secret that verifies Stripe's signatures; null when the webhook is not set up. */
  readonly stripeWebhookSecret: string | null;
}
