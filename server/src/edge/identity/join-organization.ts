import { type Kysely, sql, type Transaction } from 'kysely';
import { isPlanName, plans, type RoleName } from '../../domain/access.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { slugOf } from '../../domain/slug.ts';
import { lockCount } from '../../store/configuration/count-lock.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { CREDENTIAL } from './passwords.ts';
import { plainEmail } from './people.ts';

/** How a new user will sign in. */
export type Proof =
  | { readonly passwordHash: string }
  | { readonly providerId: string; readonly subject: string };

export interface NewPerson {
  readonly name: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly proof: Proof;
}

type NewId = () => string;

/** Throws `conflict` when the address has an account. */
export async function insertPerson(
  tx: Transaction<Database>,
  newId: NewId,
  person: NewPerson,
): Promise<string> {
  const inserted = await tx
    .insertInto('users')
    .values({
      id: newId(),
      name: person.name,
      email: plainEmail(person.email),
      email_verified: person.emailVerified,
    })
    .onConflict((conflict) => conflict.expression(sql`lower(email)`).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (inserted === undefined) throw addressTaken('email');
  await insertProof(tx, newId, inserted.id, person.proof);
  return inserted.id;
}

export async function insertProof(
  db: Kysely<Database>,
  newId: NewId,
  userId: string,
  proof: Proof,
): Promise<void> {
  const account =
    'passwordHash' in proof
      ? { provider_id: CREDENTIAL, account_id: userId, password: proof.passwordHash }
      : { provider_id: proof.providerId, account_id: proof.subject };
  await db
    .insertInto('auth_accounts')
    .values({ id: newId(), user_id: userId, ...account })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

function addressTaken(param: string): RelayError {
  return new RelayError('conflict', {
    message: 'An account with this email address already exists. Sign in instead.',
    param,
  });
}

/** How many numeric suffixes are tried before a random one. */
const SLUG_NUMBERS_MAX = 5;

/** Creates an organization for a user who signed up, with them as owner. */
export async function insertOrganization(
  tx: Transaction<Database>,
  organization: { readonly id: string; readonly name: string; readonly ownerId: string },
): Promise<void> {
  const { id, name, ownerId } = organization;
  const stem = slugOf(name, 'organization');
  const numbered = Array.from({ length: SLUG_NUMBERS_MAX - 1 }, (_, index) => `${stem}-${index + 2}`);
  for (const slug of [stem, ...numbered, `${stem}-${id.slice(-12)}`]) {
    const inserted = await tx
      .insertInto('organizations')
      .values({ id, name, slug, plan: 'free' })
      .onConflict((conflict) => conflict.column('slug').doNothing())
      .returning('id')
      .executeTakeFirst();
    if (inserted === undefined) continue;
    await insertMember(tx, { organizationId: id, userId: ownerId, role: 'owner' });
    return;
  }
  throw new RelayError('conflict', {
    message: 'Too many organizations have this name. Use another name.',
    param: 'organization_name',
  });
}

/** Whether the user joined; false when they are a member already. */
export async function insertMember(
  tx: Transaction<Database>,
  member: { readonly organizationId: string; readonly userId: string; readonly role: RoleName },
): Promise<boolean> {
  const inserted = await tx
    .insertInto('organization_members')
    .values({ organization_id: member.organizationId, user_id: member.userId, role: member.role })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return inserted.numInsertedOrUpdatedRows === 1n;
}

/**
 * Rejects a member beyond the plan's limit. Invitations and joins hold the same lock until commit, so two cannot take the
 * last seat. Open invitations do not count here: one of them is being used.
 */
export async function demandRoomForMember(tx: Transaction<Database>, organizationId: string): Promise<void> {
  await lockCount(tx, organizationId, 'members');
  const { rows } = await sql<{ plan: string; members: number }>`
    select plan, (select count(*) from organization_members where organization_id = ${organizationId}) as members
    from organizations where id = ${organizationId}`.execute(tx);
  const row = rows[0];
  const plan = row !== undefined && isPlanName(row.plan) ? row.plan : 'closed';
  const membersMax = plans[plan].counts.members;
  if (row === undefined || membersMax === null || row.members < membersMax) return;
  throw new RelayError('entitlement_missing', {
    message: `This organization’s plan allows ${membersMax} members, and that limit has been reached. Ask its owner to change the plan.`,
    fields: { plan, counted: 'members', limit: membersMax },
  });
}
