import { hash, randomBytes } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import { CREDENTIAL } from './passwords.ts';
import type { UserRow } from './people.ts';
import { removeSecondFactor } from './second-factor.ts';

export const RESET_MINUTES = 30;
const TOKEN_BYTES = 32;
const EXPIRED_PER_LINK_MAX = 100;

/**
 * A new one-time link for a user with a password. The token is in the fragment, which browsers do not send. Undefined: the
 * user has another address by now, for which the link would prove nothing.
 */
export async function createResetLink(
  db: Kysely<Database>,
  publicUrl: string,
  user: Pick<UserRow, 'id' | 'email'>,
): Promise<{ url: string; expiresAt: Date } | undefined> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const made = await db
    .insertInto('password_resets')
    .columns(['token_hash', 'user_id', 'expires_at'])
    .expression((build) =>
      build
        .selectFrom('users')
        .select([
          sql<Buffer>`${digestOf(token)}::bytea`.as('token_hash'),
          'id',
          sql<Date>`now() + make_interval(mins => ${RESET_MINUTES})`.as('expires_at'),
        ])
        .where('id', '=', user.id)
        .where('email', '=', user.email)
        // Waits for a concurrent change of the address, which drops the links made before it.
        .forShare(),
    )
    .returning('expires_at')
    .executeTakeFirst();
  await clearExpired(db);
  if (made === undefined) return undefined;
  return { url: `${publicUrl}/console/reset-password#token=${token}`, expiresAt: made.expires_at };
}

export async function isOpenResetLink(db: Kysely<Database>, token: string): Promise<boolean> {
  const found = await db
    .selectFrom('password_resets')
    .select('user_id')
    .where('token_hash', '=', digestOf(token))
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst();
  return found !== undefined;
}

export interface LinkHolder {
  readonly userId: string;
  readonly email: string;
  readonly isAddressProven: boolean;
}

/** The user of a link that still works. Locks the user, so that of concurrent uses of any of their links one succeeds. */
export async function holdResetLink(
  tx: Transaction<Database>,
  token: string,
): Promise<LinkHolder | undefined> {
  const user = await tx
    .selectFrom('password_resets as reset')
    .innerJoin('users', 'users.id', 'reset.user_id')
    .select(['users.id', 'users.email', 'users.email_verified'])
    .where('reset.token_hash', '=', digestOf(token))
    .where('users.status', '=', 'active')
    .forUpdate('users')
    .executeTakeFirst();
  if (user === undefined) return undefined;
  // Read again under the lock: a concurrent use has deleted the row.
  const used = await tx
    .deleteFrom('password_resets')
    .where('token_hash', '=', digestOf(token))
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('user_id')
    .executeTakeFirst();
  if (used === undefined) return undefined;
  return { userId: user.id, email: user.email, isAddressProven: user.email_verified };
}

/** Called whenever the password or the address changes: older links must not change it again. */
export async function dropResetLinks(tx: Kysely<Database>, userId: string): Promise<void> {
  await tx.deleteFrom('password_resets').where('user_id', '=', userId).execute();
}

/**
 * The link proves an address that someone else may have typed, so it ends every other way in that they set up. Whether there
 * was a second factor.
 */
export async function proveAddress(tx: Transaction<Database>, userId: string): Promise<boolean> {
  await tx.updateTable('users').set({ email_verified: true }).where('id', '=', userId).execute();
  await tx
    .deleteFrom('auth_accounts')
    .where('user_id', '=', userId)
    .where('provider_id', '!=', CREDENTIAL)
    .execute();
  return removeSecondFactor(tx, userId);
}

/** False: the user has no password, and signs in by single sign-on. */
export async function storePassword(
  tx: Kysely<Database>,
  userId: string,
  password: string,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('auth_accounts')
    .set({ password, updated_at: sql<Date>`now()` })
    .where('provider_id', '=', CREDENTIAL)
    .where('account_id', '=', userId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Each new link removes more than it adds. */
async function clearExpired(db: Kysely<Database>): Promise<void> {
  const expired = db
    .selectFrom('password_resets')
    .select('token_hash')
    .where('expires_at', '<=', sql<Date>`now()`)
    .orderBy('expires_at')
    .limit(EXPIRED_PER_LINK_MAX);
  await db.deleteFrom('password_resets').where('token_hash', 'in', expired).execute();
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
