import { randomUUIDv7 } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import type { StoreLog } from '../../store/store-log.ts';
import { createLibraryLoader } from './library.ts';
import type { SessionSecrets } from './session-secrets.ts';

const ROWS_AT_ONCE = 100;

/** The part of a rotation of the authentication secret that concerns second factors. Safe to repeat, and while people sign in. */
export async function resealSecondFactors(options: {
  readonly db: Kysely<Database>;
  readonly secrets: SessionSecrets;
  readonly log: Pick<StoreLog, 'warn'>;
}): Promise<void> {
  const { db } = options;
  const library = createLibraryLoader({
    ...options,
    publicUrl: 'http://127.0.0.1',
    newId: randomUUIDv7,
    sessionMs: 1_000,
  });
  let after: string | null = null;
  do {
    let query = db.selectFrom('auth_two_factors').selectAll().orderBy('id').limit(ROWS_AT_ONCE);
    if (after !== null) query = query.where('id', '>', after);
    const rows = await query.execute();
    for (const { id, secret, backup_codes } of rows) {
      const { resealed } = await library();
      const [nextSecret, nextCodes] = [await resealed(secret), await resealed(backup_codes)];
      if (nextSecret === null && nextCodes === null) continue;
      // A code that is used meanwhile has replaced the list; the next run seals that one.
      await db
        .updateTable('auth_two_factors')
        .set({ secret: nextSecret ?? secret, backup_codes: nextCodes ?? backup_codes })
        .where('id', '=', id)
        .where('secret', '=', secret)
        .where('backup_codes', '=', backup_codes)
        .execute();
    }
    after = rows.at(-1)?.id ?? null;
  } while (after !== null);
}
