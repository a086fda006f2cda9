import type { Kysely } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import { type BoundedWork, createBoundedWork } from './bounded-work.ts';
import type { Library } from './library.ts';

/** The library's name for an account with a password. */
export const CREDENTIAL = 'credential';

/**
 * A hash takes a pool thread for 100 ms and 32 MB. The bound leaves threads for DNS and compression, and keeps a flood of
 * attempts from piling up.
 */
const BOUNDS = { atOnceMax: 2, waitingMax: 50 };

export interface Passwords {
  hash(password: string): Promise<string>;
  /** Takes as long for a user without a password, or an unknown user, as for a wrong password. */
  matches(userId: string | null, password: string): Promise<boolean>;
  /** For library functions that hash. */
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

/** Whether the user has a password. Users of single sign-on or the admin token have none. */
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
