import { isDeepStrictEqual } from 'node:util';
import type { Values } from '../resources/rows.ts';
import type { Entry, IdOf, Json, SectionName } from '../resources/section.ts';
import type { Section } from '../resources/stored-section.ts';
import type { Configuration, StoredItem } from './configuration.ts';
import { withoutDefaults } from './export-file.ts';
import type { FileItem, FileItems } from './read-file.ts';

export interface FieldChange {
  readonly field: string;
  readonly before: Json;
  readonly after: Json;
}

export interface Change {
  readonly action: 'create' | 'update' | 'delete' | 'release';
  readonly section: Section;
  readonly key: string;
  readonly id: string;
  readonly fields: readonly FieldChange[];
  readonly stored: StoredItem | null;
  readonly item: FileItem | null;
  /** All columns for a create; otherwise only the changed ones. */
  readonly columns: Values;
}

export interface Orphan {
  readonly section: Section;
  readonly key: string;
  readonly id: string;
}

export interface Plan {
  readonly changes: readonly Change[];
  readonly orphaned: readonly Orphan[];
  readonly ids: IdOf;
}

/** What to do with resources that the file owns and no longer names. */
export type Orphans = 'keep' | 'delete' | 'release';

export interface PlanInput {
  readonly sections: readonly Section[];
  readonly stored: Configuration;
  readonly file: FileItems;
  readonly orphans: Orphans;
  readonly newId: () => string;
}

/**
 * The changes that make the configuration equal to the file. Writes nothing; `judge-plan.ts` decides whether
 * the plan is allowed.
 */
export function makePlan(input: PlanInput): Plan {
  const ids = idsOf(input);
  const managed = managedIn(input);
  const changes: Change[] = [];
  const orphaned: Orphan[] = [];
  for (const section of input.sections) {
    const stored = input.stored.get(section.name) ?? new Map<string, StoredItem>();
    const file = input.file.get(section.name) ?? new Map<string, FileItem>();
    for (const item of file.values()) {
      const change = changeOf(section, item, stored.get(item.key) ?? null, ids);
      if (change !== null) changes.push(change);
    }
    for (const left of stored.values()) {
      if (file.has(left.key) || !(left.owned || isGoverned(section, left, managed))) continue;
      // Only what the file owns can be released.
      const orphans = input.orphans === 'release' && !left.owned ? 'keep' : input.orphans;
      if (orphans === 'keep') orphaned.push({ section, key: left.key, id: left.row.id });
      else changes.push(endOf(section, left, orphans));
    }
  }
  return { changes, orphaned, ids };
}

/** The ids of stored items that the file owns, or will own because it names them. Released ones are no longer owned. */
function managedIn({ sections, stored, file, orphans }: PlanInput): ReadonlySet<string> {
  const items = sections.flatMap(({ name }) =>
    [...(stored.get(name)?.values() ?? [])].filter(
      ({ owned, key }) => file.get(name)?.has(key) === true || (owned && orphans !== 'release'),
    ),
  );
  return new Set(items.map(({ row }) => row.id));
}

/** Whether the item belongs to one that the file manages, and defines how that behaves. */
function isGoverned({ governors }: Section, { row }: StoredItem, managed: ReadonlySet<string>): boolean {
  return governors.some(({ column }) => managed.has(String(Reflect.get(row, column))));
}

/** Stored items keep their ids; new items of the file get one. */
function idsOf({ sections, stored, file, newId }: PlanInput): IdOf {
  const known = new Map<SectionName, Map<string, string>>();
  for (const { name } of sections) {
    const ids = new Map<string, string>();
    for (const { key, row } of stored.get(name)?.values() ?? []) ids.set(key, row.id);
    for (const key of file.get(name)?.keys() ?? []) if (!ids.has(key)) ids.set(key, newId());
    known.set(name, ids);
  }
  // A reference to a missing item has no id. `judgePlan` rejects it before anything is written.
  return (section, key) => known.get(section)?.get(key) ?? '';
}

function changeOf(section: Section, item: FileItem, stored: StoredItem | null, ids: IdOf): Change | null {
  const id = ids(section.name, item.key);
  const wanted = section.columnsOf(item.entry, ids);
  if (stored === null) {
    const columns = { ...wanted, managed_by: 'file' };
    const fields = fieldsOf(section, item.entry, (value) => ({ before: null, after: value }));
    return { action: 'create', section, key: item.key, id, fields, stored, item, columns };
  }
  const fields = section.fields.flatMap((field): FieldChange[] => {
    const [before, after] = [stored.entry[field] ?? null, item.entry[field] ?? null];
    return isDeepStrictEqual(before, after) ? [] : [{ field, before, after }];
  });
  if (!stored.owned) fields.push({ field: 'managed_by', before: null, after: 'file' });
  if (fields.length === 0) return null;
  const owner = stored.owned ? {} : { managed_by: 'file' };
  const columns = { ...differing(section.columnsOf(stored.entry, ids), wanted), ...owner };
  return { action: 'update', section, key: item.key, id, fields, stored, item, columns };
}

function endOf(section: Section, stored: StoredItem, orphans: 'delete' | 'release'): Change {
  const { key, row, entry } = stored;
  const shared = { section, key, id: row.id, stored, item: null };
  if (orphans === 'release') {
    const fields = [{ field: 'managed_by', before: 'file', after: null }];
    return { ...shared, action: 'release', fields, columns: { managed_by: null } };
  }
  const fields = fieldsOf(section, entry, (value) => ({ before: value, after: null }));
  return { ...shared, action: 'delete', fields, columns: {} };
}

/** The fields that a create or a delete lists: all that differ from their defaults. */
export function fieldsOf(
  section: Section,
  entry: Entry,
  change: (value: Json) => Omit<FieldChange, 'field'>,
): FieldChange[] {
  const said = Object.entries(withoutDefaults(section, entry));
  return said.map(([field, value]) => ({ field, ...change(value) }));
}

function differing(before: Values, after: Values): Values {
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => before[name] !== value));
}
