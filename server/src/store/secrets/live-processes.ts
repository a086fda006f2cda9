import { type Kysely, sql } from 'kysely';
import type { Database } from '../postgres/schema.ts';
import type { AnnouncedSecrets } from '../postgres/secret-tables.ts';

export interface LiveProcess {
  readonly id: string;
  readonly role: string;
  readonly host: string;
  readonly secrets: AnnouncedSecrets;
}

/** A process that has not said for this long that it runs counts as gone. */
export const LIVE_SECONDS = 60;
/** Rows of processes that were killed. */
const KEPT_HOURS = 1;

/** Says that this process runs. Repeat it well within `LIVE_SECONDS`. */
export async function announceProcess(db: Kysely<Database>, process: LiveProcess): Promise<void> {
  const { id, role, host } = process;
  const secrets = JSON.stringify(process.secrets);
  await db
    .insertInto('live_processes')
    .values({ id, role, host, secrets })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ secrets, seen_at: sql<Date>`now()` }))
    .execute();
}

export async function withdrawProcess(db: Kysely<Database>, id: string): Promise<void> {
  await db
    .deleteFrom('live_processes')
    .where((row) =>
      row.or([
        row('id', '=', id),
        row('seen_at', '<', sql<Date>`now() - make_interval(hours => ${KEPT_HOURS})`),
      ]),
    )
    .execute();
}

export function readLiveProcesses(db: Kysely<Database>): Promise<LiveProcess[]> {
  return db
    .selectFrom('live_processes')
    .select(['id', 'role', 'host', 'secrets'])
    .where('seen_at', '>', sql<Date>`now() - make_interval(secs => ${LIVE_SECONDS})`)
    .orderBy('role')
    .orderBy('id')
    .execute();
}
