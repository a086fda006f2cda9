import type { Kysely } from 'kysely';
import { createUsageFiles } from '../metering/sinks/files/usage-files.ts';
import { followLedger, type SinkFollower } from '../metering/sinks/follow-ledger.ts';
import type { LedgerSink } from '../metering/sinks/ledger-sink.ts';
import type { Database } from '../store/postgres/schema.ts';
import type { Runtime } from './runtime.ts';

/** The sinks beside the ledger that the environment configures. */
export interface ConfiguredSinks {
  readonly names: readonly string[];
  /** In a process with the metering role. */
  follow(db: Kysely<Database>): readonly SinkFollower[];
}

/**
 * `processTag`: 8 random hexadecimal digits. `holder`: who holds the lease of a sink; processes that run at the same time must
 * differ in it.
 */
export function createSinks(
  { environment, clock, log }: Pick<Runtime, 'environment' | 'clock' | 'log'>,
  { processTag, holder }: { readonly processTag: string; readonly holder: string },
): ConfiguredSinks {
  const { RELAY_USAGE_FILES_DIR: directory, RELAY_USAGE_FILES_SECONDS: seconds } = environment;
  const sinks: LedgerSink[] = [];
  if (directory !== null) sinks.push(createUsageFiles({ directory, processTag, clock }));
  return {
    names: sinks.map(({ name }) => name),
    follow: (db) =>
      sinks.map((sink) => followLedger({ db, sink, holder, gatherMs: seconds * 1_000, clock, log })),
  };
}
