import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type PrivatePostgres, selfSigned, startPgBouncer, startPostgres } from '@relay/testbed';
import { createLog } from '../kit/log.ts';
import { createDatabase, type DatabaseOptions } from '../store/postgres/postgres.ts';
import { demandPostgresSettings } from './demand-postgres-settings.ts';
import { EnvironmentError } from './environment.ts';

const log = createLog('silent');
/** Generous: a busy machine takes seconds for a handshake. */
const connectTimeoutMs = 20_000;

describe('the settings of PostgreSQL at start', () => {
  let server: PrivatePostgres;
  let directory: string;
  const file = (name: string) => join(directory, name);

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'relay-certificates-'));
    const tls = selfSigned();
    writeFileSync(file('ca.pem'), tls.cert);
    writeFileSync(file('other.pem'), selfSigned('elsewhere').cert);
    server = await startPostgres({ tls });
  });
  after(async () => {
    await server.remove();
    rmSync(directory, { recursive: true });
  });

  async function settingsOf(options: Pick<DatabaseOptions, 'url' | 'directUrl'>, readUrl?: string) {
    const database = createDatabase({ ...options, log, connectTimeoutMs });
    const replica = readUrl === undefined ? null : createDatabase({ url: readUrl, log, connectTimeoutMs });
    const isPooled = options.directUrl !== undefined;
    try {
      const watched = await demandPostgresSettings({ database, replica, isPooled, log });
      watched.stop();
      return watched.state();
    } finally {
      await replica?.close();
      await database.close();
    }
  }
  const refused = (pattern: RegExp) => (error: unknown) =>
    error instanceof EnvironmentError && pattern.test(error.message);
  const verified = (authority: string, host = '127.0.0.1') =>
    `postgres://postgres@${host}:${server.port}/postgres?sslmode=verify-full&sslrootcert=${file(authority)}`;

  it('tell what a crash would lose', async () => {
    const settings = await settingsOf({ url: verified('ca.pem') });
    assert.deepEqual(settings?.unsafe, ['fsync', 'full_page_writes']);
    assert.deepEqual(settings?.missing_timeouts, []);
  });

  it('refuse a certificate of another authority, for each of the addresses', async () => {
    const url = verified('other.pem');
    const pattern = (name: string) =>
      refused(
        new RegExp(`^${name}: Relay doesn’t trust PostgreSQL’s certificate: .*sslrootcert=/path/ca.pem`),
      );
    await assert.rejects(settingsOf({ url }), pattern('DATABASE_URL'));
    await assert.rejects(settingsOf({ url: server.url, directUrl: url }), pattern('DATABASE_DIRECT_URL'));
    await assert.rejects(settingsOf({ url: server.url }, url), pattern('DATABASE_READ_URL'));
  });

  it('name the timeouts that sessions behind a pooler lack, and refuse it as the direct address', async () => {
    const bouncer = await startPgBouncer({ target: server.url, sessions: 2 });
    try {
      const settings = await settingsOf({ url: bouncer.url, directUrl: server.url });
      assert.deepEqual(settings?.missing_timeouts, [
        'statement_timeout',
        'lock_timeout',
        'idle_in_transaction_session_timeout',
      ]);
      await assert.rejects(
        settingsOf({ url: bouncer.url }),
        refused(/Set DATABASE_DIRECT_URL to the address/),
      );
      const twice = settingsOf({ url: bouncer.url, directUrl: bouncer.url });
      await assert.rejects(twice, refused(/DATABASE_DIRECT_URL also points to a connection pooler/));
    } finally {
      await bouncer.remove();
    }
  });

  it('refuse a replica as the database', async () => {
    const replica = await startPostgres({ replicaOf: server });
    try {
      await assert.rejects(
        settingsOf({ url: replica.url }),
        refused(/is a replica, which accepts no writes/),
      );
      assert.notEqual(await settingsOf({ url: server.url }, replica.url), null);
    } finally {
      await replica.remove();
    }
  });

  it('leave a server that does not answer to the migration', async () => {
    assert.equal(await settingsOf({ url: 'postgres://postgres@127.0.0.1:1/postgres' }), null);
  });
});
