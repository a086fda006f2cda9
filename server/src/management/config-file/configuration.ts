import type { Kysely } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import type { SectionName } from '../resources/section.ts';
import type { Section, StoredEntry } from '../resources/stored-section.ts';
import { numbered } from './item-keys.ts';

/** A resource as stored, and as an item of the file. */
export interface StoredItem extends StoredEntry {
  readonly key: string;
}

/** The whole configuration of an organization, by section and key. */
export type Configuration = ReadonlyMap<SectionName, ReadonlyMap<string, StoredItem>>;

/** Uses one query per section. */
export async function readConfiguration(
  db: Kysely<Database>,
  organizationId: string,
  sections: readonly Section[],
): Promise<Configuration> {
  const found = new Map<SectionName, ReadonlyMap<string, StoredItem>>();
  const keys = new Map<string, string>();
  const keyOf = (_section: SectionName, id: string) => {
    const key = keys.get(id);
    if (key === undefined)
      throw new Error(`no item with the ID ${id} was read before the one that refers to it`);
    return key;
  };
  for (const section of sections) {
    const items = numbered(section, await section.read(db, organizationId, keyOf));
    for (const { key, row } of items) keys.set(row.id, key);
    found.set(section.name, new Map(items.map((item) => [item.key, item])));
  }
  return found;
}

/** Reads in one transaction, so that concurrent writes do not mix two states. */
export function readConfigurationAtOnce(
  db: Kysely<Database>,
  organizationId: string,
  sections: readonly Section[],
): Promise<Configuration> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute((tx) => readConfiguration(tx, organizationId, sections));
}
