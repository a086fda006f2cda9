import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type PrivatePostgres, startPostgres } from '@relay/testbed';
import { sql } from 'kysely';
import pg from 'pg';
import { systemClock } from '../../kit/clock.ts';
import { createStoreHealth, type StoreHealth } from '../store-health.ts';
import type { DatabaseHandle } from './database-handle.ts';
import { createDatabase } from './postgres.ts';
import { lookAtWrites } from './watch-writes.ts';

const DISK_MB = 128;
const CONNECTIONS = 12;

describe('a PostgreSQL that answers and rejects writes', () => {
  let server: PrivatePostgres;
  let database: DatabaseHandle;
  let health: StoreHealth;
  let lines: { message: string; reason?: string }[];

  before(async () => {
    server = await startPostgres({ diskMb: DISK_MB, connectionsMax: CONNECTIONS });
    lines = [];
    const log = {
      warn: (fields: object, message: string) => void lines.push({ message, ...fields }),
      info: (_fields: object, message: string) => void lines.push({ message }),
      error: (fields: object, message: string) => void lines.push({ message, ...fields }),
    };
    health = createStoreHealth({ name: 'PostgreSQL', clock: systemClock, log });
    database = createDatabase({ url: server.url, log, health, poolMax: 2 });
  });
  after(async () => {
    await database.close();
    await server.remove();
  });

  it('whose disk is full is found by an idle process, in its own words, and so is its end', async () => {
    await lookAtWrites(database, health);
    assert.equal(health.fault(), null);
    server.disk?.fill();
    await lookAtWrites(database, health);
    const fault = health.fault();
    server.disk?.free();
    assert.equal(fault?.operation, 'write');
    assert.match(fault?.reason ?? '', /No space left on device/);
    await lookAtWrites(database, health);
    assert.equal(health.fault(), null);
    assert.deepEqual(
      lines.map(({ message }) => message),
      ['PostgreSQL rejects writes', 'PostgreSQL accepts reads and writes again'],
    );
  });

  it('that has no connection left says so in its own words', async () => {
    const others = Array.from({ length: CONNECTIONS }, () => new pg.Client({ connectionString: server.url }));
    const connected = await Promise.allSettled(others.map((client) => client.connect()));
    assert.ok(
      connected.some(({ status }) => status === 'rejected'),
      'there are connections left',
    );
    // Its first connection.
    await assert.rejects(sql`select 1`.execute(database.ofOrganization(randomUUIDv7())));
    const fault = health.fault();
    await Promise.allSettled(others.map((client) => client.end()));
    assert.equal(fault?.operation, 'read');
    assert.match(fault?.reason ?? '', /too many clients|connection slots/);
  });
});
