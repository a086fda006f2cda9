import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
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
 * A sink that cannot hide rows until they are published (such as Kafka) writes them in `seal` and reports no unfinished portions. Rows
 * are then delivered at least once, and its readers remove duplicates by `request_id`.
 */
export interface LedgerSink {
  /** Names its entries in the outbox. Must not change between versions. */
  readonly name: string;
  begin(): Promise<SinkPortion>;
  /** Portions that were begun, by any process, and neither published nor discarded. Not called while this process writes one. */
  unfinished(): Promise<readonly UnfinishedPortion[]>;
  /** Makes a committed portion visible to readers. May be called again, and by several processes. */
  publish(portionId: string): Promise<void>;
  /** Removes a portion that will never be committed. May be called again. */
  discard(portionId: string): Promise<void>;
}

export interface SinkPortion {
  readonly id: string;
  /** The portion should take no more rows. */
  isFull(): boolean;
  add(rows: readonly SinkRow[]): Promise<void>;
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
