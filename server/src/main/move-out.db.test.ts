import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { emptyDatabase, type FreshDatabase } from '@relay/testbed';
import { DirectoryInUseError } from '../store/embedded/data-directory-lock.ts';
import { MoveRefusedError } from '../store/embedded/move/move-data.ts';
import { seedOrganization, silentLog } from '../store/fixtures/migrated-database.fixture.ts';
import { openEmbedded } from '../store/fixtures/test-database.fixture.ts';
import { moveOut } from './move-out.ts';

describe('moving out of a data directory', () => {
  let parent: string;
  let directory: string;
  let fresh: FreshDatabase;
  const open = () => openEmbedded(directory, { log: silentLog });

  before(async () => {
    parent = await mkdtemp(join(tmpdir(), 'relay-test-'));
    directory = join(parent, 'data');
    fresh = await emptyDatabase();
    const database = await open();
    await seedOrganization(database.db);
    await database.close();
  });
  after(async () => {
    await fresh.drop();
    await rm(parent, { recursive: true });
  });

  function refusal(pattern: RegExp): (error: unknown) => boolean {
    return (error) => error instanceof MoveRefusedError && pattern.test(error.message);
  }

  it('rejects a path that is not a data directory, and creates nothing', async () => {
    await assert.rejects(moveOut(join(parent, 'elsewhere'), fresh.url), refusal(/not a data directory/));
    const made = join(parent, 'half');
    await mkdir(join(made, 'postgres'), { recursive: true });
    await writeFile(join(made, 'postgres/PG_VERSION'), '18\n');
    await writeFile(join(made, 'postgres.creating'), '');
    await assert.rejects(moveOut(made, fresh.url), refusal(/not a data directory/));
  });

  it('refuses a directory in which a process works', async () => {
    const database = await open();
    try {
      await assert.rejects(moveOut(directory, fresh.url), DirectoryInUseError);
    } finally {
      await database.close();
    }
  });

  it('refuses a directory with usage that its ledger lacks', async () => {
    const spool = join(directory, 'spool');
    await mkdir(spool);
    await writeFile(join(spool, 'usage.jsonl'), '{}\n');
    await assert.rejects(moveOut(directory, fresh.url), refusal(/not in its ledger yet/));
    await rm(spool, { recursive: true });
  });

  it('answers what every table has, and leaves the directory as it was', async () => {
    const moved = await moveOut(directory, fresh.url);
    assert.equal(moved.find(({ table }) => table === 'organizations')?.rows, 1);
    assert.equal(moved.find(({ table }) => table === 'lane_memberships')?.rows, 1);
    const database = await open();
    const { id } = await database.db.selectFrom('organizations').select('id').executeTakeFirstOrThrow();
    await database.close();
    assert.match(id, /^[0-9a-f-]{36}$/);
    await assert.rejects(moveOut(directory, fresh.url), refusal(/not empty/));
  });
});
