import { join } from 'node:path';
import pg from 'pg';
import type { Clock } from '../../kit/clock.ts';
import type { DatabaseHandle } from '../postgres/database-handle.ts';
import { databaseOver } from '../postgres/database-over-pools.ts';
import type { Subscription } from '../postgres/listen.ts';
import { typeParserOf } from '../postgres/type-parsers.ts';
import type { StoreLog } from '../store-log.ts';
import { createDataDirectory } from './data-directory.ts';
import { type DataDirectoryLock, lockDataDirectory } from './data-directory-lock.ts';
import { createEngine, type Engine } from './engine.ts';
import { EngineStream } from './engine-stream.ts';
import { createOneConnectionGuard } from './one-connection.ts';
import { startUpkeep } from './upkeep.ts';

export interface EmbeddedDatabaseOptions {
  /** The data directory; the database has its own folder in it. */
  readonly directory: string;
  readonly log: StoreLog;
  readonly clock: Clock;
  /** The directory's lock, when it is held already; otherwise the database takes its own. */
  readonly lock?: DataDirectoryLock;
  readonly statementTimeoutMs?: number;
  /** How long a caller waits for the one connection, and for the database to reopen. */
  readonly connectTimeoutMs?: number;
}

/**
 * PostgreSQL inside this process, with the interface of a server. It has one session, so callers take turns: a caller that
 * holds a connection holds the database.
 */
export async function createEmbeddedDatabase(options: EmbeddedDatabaseOptions): Promise<DatabaseHandle> {
  const { log, clock, statementTimeoutMs = 10_000, connectTimeoutMs = 20_000 } = options;
  const lock = options.lock ?? (await lockDataDirectory(options.directory));
  const directory = join(options.directory, 'postgres');
  const engine = createEngine({ directory }, log);
  try {
    await createDataDirectory(directory, () => engine.start());
  } catch (error) {
    await engine.close();
    if (options.lock === undefined) await lock.release();
    throw error;
  }

  const hints = createHints();
  const pool = new pg.Pool({
    max: 1,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: connectTimeoutMs,
    // PostgreSQL's own timeouts need a timer that does not run in the thread. A caller that gives up ends the thread.
    query_timeout: statementTimeoutMs,
    types: { getTypeParser: typeParserOf },
    stream: () =>
      new EngineStream({ engine, prepare: () => prepareSession(engine, hints.channels()) }) as never,
  });
  pool.on('error', (error) => log.warn({ err: error }, 'the connection to the embedded PostgreSQL was lost'));
  pool.on('connect', (client) => client.on('notification', ({ channel }) => hints.give(channel)));

  const database = databaseOver({
    pool,
    tenantPool: pool,
    sessionPool: pool,
    pooled: false,
    statementTimeoutMs,
    clientGraceMs: 0,
    guard: createOneConnectionGuard(),
    listen: (channel, onHint) => hints.listen(channel, onHint, (text) => pool.query(text)),
    async end() {
      await upkeep.stop();
      await pool.end();
      await engine.close();
      if (options.lock === undefined) await lock.release();
    },
  });
  const upkeep = startUpkeep({ database, clock, log });
  return database;
}

/** All connections share one session, so each starts by resetting what the last one left. */
async function prepareSession(engine: Engine, channels: readonly string[]): Promise<void> {
  for (const statement of [
    'rollback',
    'discard all',
    ...channels.map((name) => `listen ${pg.escapeIdentifier(name)}`),
  ])
    await engine.run(simpleQuery(statement));
}

function simpleQuery(text: string): Uint8Array {
  const body = Buffer.from(`${text}\0`);
  const message = Buffer.alloc(5 + body.length);
  message.write('Q');
  message.writeUInt32BE(4 + body.length, 1);
  body.copy(message, 5);
  return new Uint8Array(message);
}

/** The listeners of each channel. Notifications arrive with the answer to the session's next message. */
function createHints() {
  const listeners = new Map<string, Set<() => void>>();
  return {
    channels: () => [...listeners.keys()],
    give(channel: string): void {
      for (const onHint of listeners.get(channel) ?? []) onHint();
    },
    listen(channel: string, onHint: () => void, run: (text: string) => Promise<unknown>): Subscription {
      const others = listeners.get(channel) ?? new Set();
      listeners.set(channel, others.add(onHint));
      let connected = false;
      // If this fails, the next connection does it first.
      void run(`listen ${pg.escapeIdentifier(channel)}`)
        .catch(() => undefined)
        .then(() => {
          connected = others.has(onHint);
          if (connected) onHint();
        });
      return {
        connected: () => connected,
        close() {
          connected = false;
          others.delete(onHint);
          return Promise.resolve();
        },
      };
    },
  };
}
