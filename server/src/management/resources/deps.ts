import type { Kysely } from 'kysely';
import type { AdmissionDesk } from '../../admission/desk.ts';
import type { PolicyUsage } from '../../admission/engine.ts';
import type { FlowsAsk, LiveFlow } from '../../admission/live-flows.ts';
import type { AppliedLimit } from '../../domain/limits/limit.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Egress } from '../../kit/egress/index.ts';
import type { Sealer } from '../../kit/seal.ts';
import type { Snapshots } from '../../store/configuration/snapshots.ts';
import type { Fences } from '../../store/keys/fences.ts';
import type { Database } from '../../store/postgres/schema.ts';

export interface ManagementDeps {
  /** A connection that sees one organization, whatever a query says. */
  readonly ofOrganization: (organizationId: string) => Kysely<Database>;
  /** Raised by whatever takes access away, before it is answered. */
  readonly fences: Pick<Fences, 'raise'>;
  readonly sealer: Sealer;
  /** What the digests of User API keys are made with. */
  readonly keyPepper: Buffer;
  readonly randomBytes: (size: number) => Buffer;
  readonly egress: Pick<Egress, 'check'>;
  /** Opens a separate egress for one connection test; the caller closes it. */
  readonly openEgress: () => Pick<Egress, 'dispatch' | 'close'>;
  readonly snapshots: Pick<Snapshots, 'refreshNow' | 'get' | 'load'>;
  readonly admission: Pick<AdmissionDesk, 'cooldownUntilMs'>;
  readonly clock: Clock;
  /** UUIDv7: lists are in creation order because ids are. */
  readonly newId: () => string;
  readonly deployment: Deployment;
  readonly billing: Billing;
  /** Where people reach this deployment, without a slash at the end; links that are given out begin with it. */
  readonly publicUrl: string;
  /** What answers of a lane (by id) or model usually come to, where this process knows. */
  readonly typicalOutputTokens: (laneIdOrModel: string) => number;
  /** The live state of limits, in the order asked for; fails with `store_unavailable` while their store is away. */
  readonly limitUsage: (organizationId: string, policies: readonly AppliedLimit[]) => Promise<PolicyUsage[]>;
  /** Requests in flight in the whole deployment; fails like the live state of limits. */
  readonly liveFlows: (ask: FlowsAsk) => Promise<LiveFlow[]>;
}

export interface Deployment {
  readonly mode: 'self_hosted' | 'hosted';
  readonly accounts: boolean;
  readonly version: string;
}

export interface Billing {
  /** Works for the whole deployment: an event of Stripe comes without a caller, and may be about any organization. */
  readonly db: Kysely<Database>;
  /** What Stripe signs events with; null where it sends none. */
  readonly stripeWebhookSecret: string | null;
}
