import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort, freshDatabase } from '@relay/testbed';
import pg from 'pg';
import { createDatabase } from './create-database.ts';

test('the database is created once, and one that exists keeps what is in it', async () => {
  const fresh = await freshDatabase();
  const serverUrl = fresh.url.slice(0, fresh.url.lastIndexOf('/'));
  const name = new URL(fresh.url).pathname.slice(1);
  await fresh.drop();
  try {
    await createDatabase(serverUrl, name);
    const client = new pg.Client({ connectionString: fresh.url });
    await client.connect();
    await client.query('create table kept ()');
    await createDatabase(serverUrl, name);
    await client.query('select from kept');
    await client.end();
  } finally {
    await fresh.drop();
  }
});

test('without PostgreSQL, the error names its address and says how to start it', async () => {
  const port = await freePort();
  await assert.rejects(
    createDatabase(`postgres://postgres:secret@127.0.0.1:${port}`, 'relay_dev'),
    new RegExp(`^Error: [^]* 127\\.0\\.0\\.1:${port} \\(.*ECONNREFUSED.*docker compose .* start --demo`, 's'),
  );
});
