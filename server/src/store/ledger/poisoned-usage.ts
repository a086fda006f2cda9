import { type Kysely, type Selectable, sql } from 'kysely';
import { rowArrays } from '../postgres/row-arrays.ts';
import type { Database } from '../postgres/schema.ts';

export type PoisonedUsage = Selectable<Database['poisoned_usage']>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Records entries that can never become a row; each entry once. */
export async function notePoisonedUsage(
  db: Kysely<Database>,
  poisoned: readonly PoisonedUsage[],
): Promise<void> {
  if (poisoned.length === 0) return;
  const names = [
    'stream',
    'entry_id',
    'place',
    'organization_id',
    'request_id',
    'reason',
    'found_at',
  ] as const;
  const { columns, select } = rowArrays('poisoned_usage', names, poisoned);
  await sql`insert into poisoned_usage (${columns}) ${select} order by stream, entry_id, place
    on conflict do nothing`.execute(db);
}

/** The value if it is a valid id. */
export function idOrNull(claimed: unknown): string | null {
  return typeof claimed === 'string' && UUID.test(claimed) ? claimed : null;
}
