import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { emptyDatabase } from '@relay/testbed';
import { silentLog } from '../fixtures/migrated-database.fixture.ts';
import { MIGRATIONS_DIRECTORY, migrateUp } from '../postgres/migrate.ts';
import { createDatabase } from '../postgres/postgres.ts';

const MIGRATION = '20261115001000-own-by-file.sql';

it('credentials that share a name get names of their own, and all others keep theirs', async () => {
  const fresh = await emptyDatabase();
  const database = createDatabase({ url: fresh.url, log: silentLog });
  const older = await mkdtemp(join(tmpdir(), 'relay-migrations-'));
  try {
    for (const name of await readdir(MIGRATIONS_DIRECTORY)) {
      if (name < MIGRATION) await cp(join(MIGRATIONS_DIRECTORY, name), join(older, name));
    }
    const organizationId = randomUUIDv7();
    const ids = Array.from({ length: 4 }, () => randomUUIDv7()).sort();
    await database.withSession(async (session) => {
      await migrateUp(session, older);
      await session.query(
        `insert into organizations (id, name, slug, plan) values ($1, 'O', 'o', 'self_hosted')`,
        [organizationId],
      );
      await session.query(
        `insert into providers (organization_id, id, name, slug, base_url, auth_mode)
          values ($1, $2, 'P', 'p', 'https://p.example', 'none'), ($1, $3, 'Q', 'q', 'https://q.example', 'none')`,
        [organizationId, ids[0], ids[1]],
      );
      const places = [
        [ids[0], ids[0], 'same'],
        [ids[0], ids[1], 'same'],
        [ids[1], ids[2], 'same'],
        [ids[0], ids[3], 'own'],
      ];
      for (const [providerId, id, name] of places) {
        await session.query(
          `insert into credentials (organization_id, provider_id, id, name, sealed_secret, key_id)
            values ($1, $2, $3, $4, $5, $6)`,
          [organizationId, providerId, id, name, Buffer.alloc(40), '0'.repeat(16)],
        );
      }
      await migrateUp(session);
      const { rows } = await session.query(
        'select name, managed_by, secret_ref from credentials order by id',
      );
      const unowned = { managed_by: null, secret_ref: null };
      assert.deepEqual(rows, [
        { name: 'same', ...unowned },
        { name: `same ${ids[1]}`, ...unowned },
        { name: 'same', ...unowned },
        { name: 'own', ...unowned },
      ]);
    });
  } finally {
    await rm(older, { recursive: true });
    await database.close();
    await fresh.drop();
  }
});
