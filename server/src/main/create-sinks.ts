import { randomUUIDv7 } from 'node:crypto';
import type { Kysely } from 'kysely';
import { createUsageFiles } from '../metering/sinks/files/usage-files.ts';
import { followLedger, type SinkFollower } from '../metering/sinks/follow-ledger.ts';
import { createJetStreamSink } from '../metering/sinks/jetstream/jetstream-sink.ts';
import type { LedgerSink } from '../metering/sinks/ledger-sink.ts';
import type { Database } from '../store/postgres/schema.ts';
import type { Environment } from './environment.ts';
import type { Runtime } from './runtime.ts';

export interface ConfiguredSink {
  readonly sink: LedgerSink;
  readonly gatherMs: number;
  /** What its target is called in messages. */
  readonly target: string;
  /** The setting that chooses another target. */
  readonly setting: string;
}

/** The sinks beside the ledger that the environment configures. */
export interface ConfiguredSinks {
  readonly names: readonly string[];
  /** Each with what its setting names. */
  readonly all: readonly ConfiguredSink[];
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
  const sinks: ConfiguredSink[] = [];
  if (directory !== null)
    sinks.push({
      sink: createUsageFiles({ directory, processTag, clock }),
      gatherMs: seconds * 1_000,
      target: `The directory of usage files (${directory})`,
      setting: 'RELAY_USAGE_FILES_DIR',
    });
  const jetStream = jetStreamOf(environment);
  if (jetStream !== null)
    sinks.push({
      sink: jetStream,
      // A message needs no company, unlike a file.
      gatherMs: 0,
      target: `The NATS stream ${environment.RELAY_NATS_STREAM}`,
      setting: 'RELAY_NATS_STREAM',
    });
  return {
    names: sinks.map(({ sink }) => sink.name),
    all: sinks,
    follow: (db) =>
      sinks.map(({ sink, gatherMs }) => followLedger({ db, sink, gatherMs, holder, clock, log })),
  };
}

function jetStreamOf(environment: Environment): LedgerSink | null {
  const { RELAY_NATS_URL: servers, RELAY_NATS_STREAM: stream } = environment;
  if (servers === null) return null;
  const credentialsFile = environment.RELAY_NATS_CREDENTIALS_FILE;
  return createJetStreamSink({ servers, credentialsFile, stream, newPortionId: () => randomUUIDv7() });
}
