import type { Kysely } from 'kysely';
import type { AdmissionDesk } from '../admission/desk.ts';
import type { PolicyUsage } from '../admission/engine.ts';
import type { Policy } from '../admission/policy.ts';
import type { Clock } from '../kit/clock.ts';
import type { Egress } from '../kit/egress/index.ts';
import type { Sealer } from '../kit/seal.ts';
import type { Database } from '../store/schema.ts';
import type { Snapshots } from '../store/snapshots.ts';

export interface ManagementDeps {
  readonly db: Kysely<Database>;
  readonly sealer: Sealer;
  readonly egress: Pick<Egress, 'check'>;
  readonly snapshots: Pick<Snapshots, 'refreshNow' | 'get' | 'load'>;
  readonly admission: Pick<AdmissionDesk, 'cooldownUntilMs'>;
  readonly clock: Clock;
  /** UUIDv7: lists are in creation order because ids are. */
  readonly newId: () => string;
  /** What this deployment is; self-hosted without accounts unless told otherwise. */
  readonly deployment?: Deployment;
  /** What answers of a lane (by id) or model usually come to, where this process knows. */
  readonly typicalOutputTokens: (laneIdOrModel: string) => number;
  /** The live state of limits, in the order asked for; fails with `store_unavailable` while their store is away. */
  readonly limitUsage: (organizationId: string, policies: readonly Policy[]) => Promise<PolicyUsage[]>;
}

export interface Deployment {
  readonly mode: 'self_hosted' | 'hosted';
  readonly accounts: boolean;
  readonly version: string;
}
