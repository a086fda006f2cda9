import type { Kysely } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import { type BoundedWork, createBoundedWork } from './bounded-work.ts';
import type { Library } from './library.ts';

/** What the library calls the account that a password belongs to. */
export const CREDENTIAL = 'credential';

/**
 * Hashing takes a thread of the pool for a tenth of a second and 32 MB. The bound leaves threads for name look-ups
 * and compression, and keeps a flood of attempts from piling up.
 */
const BOUNDS = { atOnceMax: 2, waitingMax: 50 };

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Takes as long for somebody who has no password, or does not exist, as for a wrong one. */
  matches(userId: string | null, password: string): Promise<boolean>;
  /** For what hashes within the library. */
  readonly bounded: BoundedWork;
}

export function createPasswords(deps: {
  readonly db: Kysely<Database>;
  readonly library: () => Promise<Library>;
}): Passwords {
  const bounded = createBoundedWork(BOUNDS);

  async function hash(password: string): Promise<string> {
    const { context } = await deps.library();
    return bounded(() => context.password.hash(password));
  }

  return {
    hash,
    async matches(userId, password) {
      const { context } = await deps.library();
      const stored = userId === null ? null : await findHash(deps.db, userId);
      if (stored === null) {
        await hash(password);
        return false;
      }
      return bounded(() => context.password.verify({ hash: stored, password }));
    },
    bounded,
  };
}

/** Whether somebody has a password here. Whoever came by single sign-on or with the admin token has none. */
export async function hasPassword(db: Kysely<Database>, userId: string): Promise<boolean> {
  return (await findHash(db, userId)) !== null;
}

async function findHash(db: Kysely<Database>, userId: string): Promise<string | null> {
  const row = await db
    .selectFrom('auth_accounts')
    .select('password')
    .where('provider_id', '=', CREDENTIAL)
    .where('account_id', '=', userId)
    .executeTakeFirst();
  return row?.password ?? null;
}
