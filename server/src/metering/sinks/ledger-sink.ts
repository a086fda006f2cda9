import type { DeploymentIdentity } from '../../store/deployment/identity.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import type { PortionOutcome } from '../../store/ledger/sinks/portions.ts';
import type { SinkRow } from '../../store/ledger/sinks/read-rows.ts';

/** The first sink, and the truth: it decides which rows are new. PostgreSQL implements it. */
export interface Ledger {
  /**
   * Writes rows, one per request: a request that has a row keeps it. Throws when no row can be written now; the caller must then keep
   * them and try again.
   */
  write(rows: readonly LedgerRow[]): Promise<BatchOutcome>;
}

export interface BatchOutcome {
  /** Requests that got their row from this batch. */
  readonly rows: number;
  /** Requests that can never have a row, with the error. */
  readonly refused: ReadonlyMap<string, unknown>;
}

/**
 * A sink beside the ledger. It gets every row that the ledger committed while the sink was configured, in portions, and each
 * row once: a portion is sealed, then committed in the database, then published. After a kill at any moment, another
 * process publishes the committed portions that it finds and discards the others, whose rows are written again.
 *
 * A sink that cannot hide rows until they are published, and can read back what it has (such as JetStream), reports no unfinished
 * portions. It writes rows in `add`, and `begin` reads back which of them came from portions that were never committed.
 */
export interface LedgerSink {
  /** Names its entries in the outbox. Must not change between versions. */
  readonly name: string;
  /**
   * Marks the target as the deployment's, unless it has a mark. Returns the other deployment that it belongs to, or null. From then on, the
   * sink writes only to a target that has the mark of this deployment.
   */
  claim(own: DeploymentIdentity): Promise<DeploymentIdentity | null>;
  /** `settle` gives the final outcome of a portion, and discards it unless it is committed. */
  begin(settle: (portionId: string) => Promise<PortionOutcome>): Promise<SinkPortion>;
  /** Portions that were begun, by any process, and neither published nor discarded. Not called while this process writes one. */
  unfinished(): Promise<readonly UnfinishedPortion[]>;
  /** Makes a committed portion visible to readers. May be called again, and by several processes. */
  publish(portionId: string): Promise<void>;
  /** Removes a portion that will never be committed. May be called again. */
  discard(portionId: string): Promise<void>;
  /** Frees what the sink holds open between portions. */
  close(): Promise<void>;
}

export interface SinkPortion {
  readonly id: string;
  /** The portion should take no more rows. */
  isFull(): boolean;
  add(rows: readonly SinkRow[]): Promise<void>;
  /** All rows of an outbox entry were added. The versions (`versionId`) that the ledger has replaced or dropped are included. */
  endEntry?(versionIds: readonly string[]): void;
  /** Resolves when the rows survive a power failure. */
  seal(): Promise<void>;
  /** Frees what the portion holds open, sealed or not. */
  close(): Promise<void>;
}

export interface UnfinishedPortion {
  readonly id: string;
  /** Whether no process seems to be writing it. A wrong value repeats work but loses no row. */
  readonly isAbandoned: boolean;
}
