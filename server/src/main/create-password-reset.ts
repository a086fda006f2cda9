import { randomUUIDv7 } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Kysely } from 'kysely';
import { createResetLink } from '../edge/identity/password-resets.ts';
import { hasPassword } from '../edge/identity/passwords.ts';
import { findUserByEmail, membershipsOf } from '../edge/identity/people.ts';
import { removeSecondFactor } from '../edge/identity/second-factor.ts';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { appendAudit } from '../store/configuration/audit-log.ts';
import { createEmbeddedDatabase } from '../store/embedded/embedded-postgres.ts';
import type { DatabaseHandle } from '../store/postgres/database-handle.ts';
import { MIGRATION_TIMEOUT_MS, migrateUp, migrationStatus } from '../store/postgres/migrate.ts';
import { createDatabase } from '../store/postgres/postgres.ts';
import type { Database } from '../store/postgres/schema.ts';

/** Where the deployment keeps its users. */
export type DeploymentData = { readonly databaseUrl: string } | { readonly directory: string };

export interface ResetRequest {
  readonly email: string;
  readonly publicUrl: string;
  /** For a user who has lost it: every other removal needs a session. */
  readonly removeSecondFactor: boolean;
}

export interface PasswordReset {
  readonly email: string;
  readonly url: string;
  readonly expires_at: string;
}

/** There is nothing to reset; the message says why and what to do. */
export class ResetRefusedError extends Error {
  override readonly name = 'ResetRefusedError';
  readonly isNotFound: boolean;
  constructor(message: string, isNotFound = false) {
    super(message);
    this.isNotFound = isNotFound;
  }
}

/** `relay users reset-password`: a one-time link, for the operator to hand over. Needs no mail server. */
export async function createPasswordReset(data: DeploymentData, asked: ResetRequest): Promise<PasswordReset> {
  const database = await open(data);
  try {
    if ('directory' in data)
      await database.withSession((session) => migrateUp(session), MIGRATION_TIMEOUT_MS);
    else await demandMigrated(database);
    return await database.db.transaction().execute((tx) => createLink(tx, asked));
  } finally {
    await database.close();
  }
}

async function open(data: DeploymentData): Promise<DatabaseHandle> {
  const log = createLog('error');
  if ('databaseUrl' in data)
    return createDatabase({ url: data.databaseUrl, log, applicationName: 'relay-users' });
  const directory = resolve(data.directory);
  if (!existsSync(join(directory, 'postgres', 'PG_VERSION')))
    throw new ResetRefusedError(
      `${directory} is not a data directory of \`relay start\`. Pass another with --data-dir, or set DATABASE_URL.`,
    );
  return createEmbeddedDatabase({ directory, log, clock: systemClock });
}

async function demandMigrated(database: DatabaseHandle): Promise<void> {
  const { pending } = await database.withSession((session) => migrationStatus(session));
  if (pending.length > 0)
    throw new ResetRefusedError('The database has an older schema. Run `relay migrate up` first.');
}

async function createLink(
  db: Kysely<Database>,
  { email, publicUrl, removeSecondFactor: isRemovalAsked }: ResetRequest,
): Promise<PasswordReset> {
  const user = await findUserByEmail(db, email);
  if (user === undefined) throw new ResetRefusedError(`No user has the email address ${email}.`, true);
  if (user.status !== 'active') throw new ResetRefusedError(`User ${user.email} is ${user.status}.`);
  if (!(await hasPassword(db, user.id)))
    throw new ResetRefusedError(
      `${user.email} has no password. They sign in with single sign-on or a token.`,
    );
  const link = await createResetLink(db, publicUrl, user);
  if (link === undefined) throw new ResetRefusedError(`No user has the email address ${email}.`, true);
  const isFactorRemoved = isRemovalAsked && (await removeSecondFactor(db, user.id));
  const actions = ['user.create_password_reset', ...(isFactorRemoved ? ['user.remove_totp'] : [])];
  const memberships = await membershipsOf(db, user.id);
  const requestId = randomUUIDv7();
  await appendAudit(
    db,
    ...memberships.flatMap(({ organizationId }) =>
      actions.map((action) => ({
        id: randomUUIDv7(),
        organizationId,
        actor: { type: 'system' as const, userId: user.id },
        requestId,
        action,
        targetType: 'user',
        targetId: user.id,
      })),
    ),
  );
  return { email: user.email, url: link.url, expires_at: link.expiresAt.toISOString() };
}
