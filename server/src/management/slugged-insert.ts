import { type Kysely, sql, type Transaction } from 'kysely';
import { firstFreeSlug, slugOf } from '../domain/slug.ts';
import type { Database } from '../store/postgres/schema.ts';
import type { NewRow, OwnedRows, Row } from './owned-rows.ts';
import { conflict } from './refusals.ts';

type SluggedTable = 'providers' | 'endpoints' | 'lanes' | 'guardrails';

/** How often a slug may be lost to another transaction; each loss means that another create succeeded. */
const ATTEMPTS_MAX = 100;

/**
 * Inserts a row under the first free slug of its name. Two creates may choose the same slug at once: the
 * unique constraint lets one through and the other chooses again, seeing what the first has committed.
 */
export async function insertSlugged<T extends SluggedTable>(
  tx: Transaction<Database>,
  rows: OwnedRows<T>,
  organizationId: string,
  input: { readonly name: string; readonly fallback: string; readonly row: Omit<NewRow<T>, 'name' | 'slug'> },
): Promise<Row<T>> {
  const stem = slugOf(input.name, input.fallback);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const slug = firstFreeSlug(stem, await takenSlugs(tx, rows.table, organizationId, stem));
    const row = { ...input.row, name: input.name, slug } as unknown as NewRow<T>;
    const inserted = await rows.insert(tx, organizationId, row);
    if (inserted !== undefined) return inserted;
  }
  throw conflict(
    'name',
    'Too many resources of this name are being created at once. Retry, or use another name.',
  );
}

async function takenSlugs(
  tx: Kysely<Database>,
  table: SluggedTable,
  organizationId: string,
  stem: string,
): Promise<Set<string>> {
  const rows = await tx
    .selectFrom<SluggedTable>(table)
    .select('slug')
    .where('organization_id', '=', organizationId)
    .where((match) => match.or([match('slug', '=', stem), sql<boolean>`starts_with(slug, ${`${stem}-`})`]))
    .execute();
  return new Set(rows.map((row) => row.slug));
}
