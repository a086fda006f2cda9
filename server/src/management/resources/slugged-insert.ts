import { type Kysely, sql, type Transaction } from 'kysely';
import { firstFreeSlug, slugOf } from '../../domain/slug.ts';
import type { Columns, Database } from '../../store/postgres/schema.ts';
import { conflict } from './refusals.ts';
import type { NewRowOf, OwnedRows, RowOf } from './rows.ts';

/** How often another transaction may take the slug first. Each time, another create has succeeded. */
const ATTEMPTS_MAX = 100;

/**
 * Inserts a row under the first free slug of its name. If a concurrent create takes the slug, the unique
 * constraint rejects this insert, and the next attempt sees the committed slug.
 */
export async function insertSlugged<C extends Columns>(
  tx: Transaction<Database>,
  rows: OwnedRows<C>,
  organizationId: string,
  /** `fallback` is the slug of a name that has no letter or digit. */
  { name, fallback }: { readonly name: string; readonly fallback: string },
  rowOf: (slug: string) => NewRowOf<C>,
): Promise<RowOf<C>> {
  const stem = slugOf(name, fallback);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const slug = firstFreeSlug(stem, await takenSlugs(tx, rows.table.name, organizationId, stem));
    const inserted = await rows.insert(tx, organizationId, rowOf(slug));
    if (inserted !== undefined) return inserted;
  }
  throw conflict(
    'name',
    'Too many resources of this name are being created concurrently. Retry, or use another name.',
  );
}

async function takenSlugs(
  tx: Kysely<Database>,
  table: string,
  organizationId: string,
  stem: string,
): Promise<Set<string>> {
  const found = await sql<{ slug: string }>`
    select slug from ${sql.table(table)}
    where organization_id = ${organizationId} and (slug = ${stem} or starts_with(slug, ${`${stem}-`}))`.execute(
    tx,
  );
  return new Set(found.rows.map(({ slug }) => slug));
}
