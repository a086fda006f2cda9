import assert from 'node:assert/strict';
import { createSecretKey, randomBytes, randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { Secret } from '../../kit/secret.ts';
import {
  type MigratedDatabase,
  migratedDatabase,
  seedOrganization,
  silentLog,
} from '../../store/fixtures/migrated-database.fixture.ts';
import { createLibraryLoader } from './library.ts';
import { resealSecondFactors } from './reseal-second-factors.ts';
import {
  digestOfAdminToken,
  digestOfCookie,
  newSessionCookie,
  type SessionSecrets,
} from './session-secrets.ts';
import { createSessions, SESSION_COOKIE } from './sessions.ts';

const [earlier, newer] = [0, 1].map(() => createSecretKey(randomBytes(32))) as [
  SessionSecrets['current'],
  SessionSecrets['current'],
];
const alone = (current: SessionSecrets['current']): SessionSecrets => ({ current, accepted: [current] });
const both: SessionSecrets = { current: newer, accepted: [newer, earlier] };

describe('while the authentication secret is replaced', () => {
  let migrated: MigratedDatabase;
  let userId: string;
  let organizationId: string;

  before(async () => {
    migrated = await migratedDatabase();
    ({ userId, organizationId } = await seedOrganization(migrated.db));
  });
  after(() => migrated.drop());

  const libraryWith = (secrets: SessionSecrets) =>
    createLibraryLoader({
      db: migrated.db,
      secrets,
      publicUrl: 'http://127.0.0.1:8080',
      newId: randomUUIDv7,
      sessionMs: 60_000,
      log: silentLog,
    })();

  it('a session that was opened under the earlier secret goes on, and ends with it', async () => {
    const cookie = newSessionCookie();
    await migrated.db
      .insertInto('sessions')
      .values({
        id: randomUUIDv7(),
        user_id: userId,
        organization_id: organizationId,
        token: digestOfCookie(earlier, cookie) ?? '',
        expires_at: new Date(Date.now() + 60_000),
      })
      .execute();
    const found = (secrets: SessionSecrets) =>
      createSessions({
        db: migrated.db,
        secrets,
        publicUrl: 'http://127.0.0.1:8080',
        accounts: true,
        admin: null,
      }).find(`${SESSION_COOKIE}=${cookie}`);
    assert.equal((await found(both))?.userId, userId);
    assert.equal((await found(alone(earlier)))?.userId, userId);
    assert.equal(await found(alone(newer)), null);
  });

  it('a session that an earlier admin token opened goes on while it is listed, and ends with it', async () => {
    const [cookie, admin] = [newSessionCookie(), new Secret('the earlier token')];
    await migrated.db
      .insertInto('sessions')
      .values({
        id: randomUUIDv7(),
        user_id: userId,
        organization_id: organizationId,
        token: digestOfCookie(newer, cookie) ?? '',
        admin_token_digest: digestOfAdminToken(newer, admin.reveal()),
        expires_at: new Date(Date.now() + 60_000),
      })
      .execute();
    const found = (earlierTokens: readonly Secret[]) =>
      createSessions({
        db: migrated.db,
        secrets: both,
        publicUrl: 'http://127.0.0.1:8080',
        accounts: true,
        admin: { token: new Secret('the new token'), earlierTokens, organizationId, userId, codes: null },
      }).find(`${SESSION_COOKIE}=${cookie}`);
    assert.equal((await found([admin]))?.isAdmin, true);
    assert.equal(await found([]), null);
  });

  it('a second factor opens under both, and after the reseal under the new one alone', async () => {
    const { seal } = await libraryWith(alone(earlier));
    await migrated.db
      .insertInto('auth_two_factors')
      .values({
        id: randomUUIDv7(),
        user_id: userId,
        secret: await seal('12345678901234567890'),
        backup_codes: await seal('["aaaaa-bbbbb"]'),
        verified: true,
      })
      .execute();
    const stored = () => migrated.db.selectFrom('auth_two_factors').selectAll().executeTakeFirstOrThrow();
    const before = await stored();
    assert.equal(await (await libraryWith(both)).open(before.secret), '12345678901234567890');
    await assert.rejects((await libraryWith(alone(newer))).open(before.secret));

    await resealSecondFactors({ db: migrated.db, secrets: both, log: silentLog });
    const after = await stored();
    const library = await libraryWith(alone(newer));
    assert.equal(await library.open(after.secret), '12345678901234567890');
    assert.equal(await library.open(after.backup_codes), '["aaaaa-bbbbb"]');
    await resealSecondFactors({ db: migrated.db, secrets: both, log: silentLog });
    assert.deepEqual(await stored(), after, 'what is sealed under the current secret stays as it is');
  });
});
