import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../kit/clock.ts';
import {
  type MigratedDatabase,
  migratedDatabase,
  seedOrganization,
  silentLog,
} from '../../store/fixtures/migrated-database.fixture.ts';
import { createLibraryLoader } from './library.ts';
import { createSecondFactor, type SecondFactor } from './second-factor.ts';
import { sessionSecrets } from './session-secrets.fixture.ts';

// No password check comes first, so that many arrive at the same moment.
describe('a second factor under concurrent requests', () => {
  let migrated: MigratedDatabase;
  let secondFactor: SecondFactor;
  let userId: string;
  const BACKUP = 'aaaaa-bbbbb';

  before(async () => {
    migrated = await migratedDatabase();
    ({ userId } = await seedOrganization(migrated.db));
    const loaded = await createLibraryLoader({
      db: migrated.db,
      secrets: sessionSecrets(),
      publicUrl: 'http://127.0.0.1:8080',
      newId: randomUUIDv7,
      sessionMs: 60_000,
      log: silentLog,
    })();
    const { seal } = loaded;
    await migrated.db
      .insertInto('auth_two_factors')
      .values({
        id: randomUUIDv7(),
        user_id: userId,
        secret: await seal('12345678901234567890'),
        backup_codes: await seal(JSON.stringify([BACKUP, 'ccccc-ddddd'])),
        verified: true,
      })
      .execute();
    secondFactor = createSecondFactor({
      db: migrated.db,
      // The time of RFC 6238's first test vector.
      clock: { ...systemClock, nowMs: () => 59_000 },
      library: async () => loaded,
      passwords: { bounded: (work) => work() },
    });
  });
  after(() => migrated.drop());

  for (const [what, code] of [
    ['a code of the authenticator', '287082'],
    ['a backup code', BACKUP],
  ] as const) {
    it(`takes ${what} once`, async () => {
      const taken = await Promise.all(Array.from({ length: 20 }, () => secondFactor.consume(userId, code)));
      assert.equal(taken.filter(Boolean).length, 1);
    });
  }

  it('keeps the other backup codes', async () => {
    assert.equal(await secondFactor.consume(userId, 'ccccc-ddddd'), true);
  });
});
