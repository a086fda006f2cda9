import type { AdmissionDesk } from '../../admission/desk.ts';
import type { Connection } from './connection.fixture.ts';
import type { Link } from './network.fixture.ts';
import type { StoreClient } from './remote-engine.fixture.ts';
import type { SimProcess } from './virtual-time.fixture.ts';

/** A gateway: the real data plane, desk and journal, with the simulated world around them. */
export interface SimGateway {
  readonly process: SimProcess;
  readonly links: { readonly store: Link; readonly ledger: Link };
  readonly client: StoreClient;
  readonly desk: AdmissionDesk;
  serve(requestId: string, organizationId: string, connection: Connection): void;
}

/** A worker: the real path from the usage streams to the ledger, and the sweep of expired leases. */
export interface SimWorker {
  readonly process: SimProcess;
  readonly links: { readonly store: Link; readonly ledger: Link };
  readonly client: StoreClient;
}
