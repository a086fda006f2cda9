import assert from 'node:assert/strict';
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  type MigratedDatabase,
  migratedDatabase,
  seedOrganization,
} from '../../store/fixtures/migrated-database.fixture.ts';
import { acceptInvitation, openInvitationsTo } from './invitations.ts';

// No password hash comes first, so that many arrive at the same moment.
describe('invitations under concurrent requests', () => {
  let migrated: MigratedDatabase;
  let organizationId: string;
  before(async () => {
    migrated = await migratedDatabase();
    ({ organizationId } = await seedOrganization(migrated.db));
  });
  after(() => migrated.drop());

  const deps = () => ({ db: migrated.db, fences: { raise: async () => undefined }, newId: randomUUIDv7 });

  async function invite(email: string) {
    await migrated.db
      .insertInto('invitations')
      .values({
        organization_id: organizationId,
        id: randomUUIDv7(),
        email,
        role: 'viewer',
        token_hash: randomBytes(32),
        expires_at: new Date(Date.now() + 60_000),
      })
      .execute();
    const [invitation] = await openInvitationsTo(migrated.db, email);
    assert.ok(invitation !== undefined);
    return invitation;
  }

  async function addUser(): Promise<string> {
    const id = randomUUIDv7();
    await migrated.db
      .insertInto('users')
      .values({ id, name: 'x', email: `${id}@example.com` })
      .execute();
    return id;
  }

  const accept = (invitation: Awaited<ReturnType<typeof invite>>, userId: string) =>
    acceptInvitation(deps(), randomUUIDv7(), invitation, async () => userId);
  const membersOf = async () =>
    (
      await migrated.db
        .selectFrom('organization_members')
        .select('user_id')
        .where('organization_id', '=', organizationId)
        .execute()
    ).length;

  it('one invitation creates one member', async () => {
    const invitation = await invite('one@example.com');
    const users = await Promise.all(Array.from({ length: 8 }, addUser));
    const outcomes = await Promise.allSettled(users.map((userId) => accept(invitation, userId)));
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.equal(await membersOf(), 2);
  });

  it('as many as the plan has room for make members', async () => {
    await migrated.db
      .updateTable('organizations')
      .set({ plan: 'free' })
      .where('id', '=', organizationId)
      .execute();
    const invitations = await Promise.all(
      Array.from({ length: 8 }, (_, index) => invite(`room-${index}@example.com`)),
    );
    const users = await Promise.all(invitations.map(addUser));
    const outcomes = await Promise.allSettled(
      invitations.map((invitation, index) => accept(invitation, users[index] ?? '')),
    );
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        assert.equal((outcome.reason as { code: string }).code, 'entitlement_missing');
    assert.equal(await membersOf(), 3);
  });
});
