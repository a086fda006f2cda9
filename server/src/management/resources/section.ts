import { type ConfigFile, type SectionDefinition, sectionNames } from '@relay/contract';
import type { Egress } from '../../kit/egress/index.ts';
import type { Columns } from '../../store/postgres/schema.ts';
import type { RowOf, Values } from './rows.ts';
import type { SecretPlace } from './sealed-secret.ts';

export type SectionName = Exclude<keyof ConfigFile, 'version'>;

export type Scalar = string | number | boolean | null;
export type Json = Scalar | readonly Json[] | { readonly [name: string]: Json };

/** An item with all fields of its schema. References to other resources are keys, not ids. */
export type Entry = Readonly<Record<string, Json>>;

/** A field that names an item of another section, by the key of that item. */
export interface Reference {
  readonly field: string;
  readonly section: SectionName;
  readonly key: string;
}

export type IdOf = (section: SectionName, key: string) => string;
export type KeyOf = (section: SectionName, id: string) => string;

export interface SectionDeps {
  readonly egress: Pick<Egress, 'check'>;
}

/** The sealed secret of a row, null when there is none, and the location it is bound to. */
export interface StoredSecret {
  readonly sealed: Buffer | null;
  readonly place: SecretPlace;
}

/** One section of the configuration file: what reading and checking a file needs. */
export interface SectionShape {
  readonly name: SectionName;
  /** The name of an item in messages and in the audit log. */
  readonly kind: string;
  /** Its fields, in the order in which they are exported. */
  readonly fields: readonly string[];
  /** Defaults of optional fields. An export leaves out fields that equal them. */
  readonly defaults: Entry;
  /** Defaults of this item: those of all items, and those that one of its fields brings. */
  defaultsOf(item: Partial<Entry>): Entry;
  /** Whether items may share a key and are then distinguished by their order. */
  readonly repeats: boolean;
  /** Identifies an item within the file and across applies. */
  keyOf(entry: Entry): string;
  referencesOf(entry: Entry): readonly Reference[];
  /** The entry as it would be stored. Throws the same errors as the routes of the resource. */
  checked(entry: Entry, deps: SectionDeps): Entry;
}

/** A section, typed by its item and table. */
export interface SectionOf<Item extends object, C extends Columns> {
  /** The section's definition in the contract. */
  readonly announced: SectionDefinition & {
    readonly name: SectionName;
    readonly item: { readonly properties: object };
  };
  readonly defaults: Partial<Item>;
  /** Further defaults, by what the item says. */
  defaultsOf?(item: Partial<Item>): Partial<Item>;
  readonly repeats?: true;
  keyOf(entry: Required<Item>): string;
  referencesOf?(entry: Required<Item>): readonly Reference[];
  entryOf(row: RowOf<C>, keyOf: KeyOf): Unset<Item>;
  checked(entry: Required<Item>, deps: SectionDeps): Required<Item>;
  columnsOf(entry: Required<Item>, idOf: IdOf): Values;
  completed?(entries: readonly Unset<Item>[]): readonly Required<Item>[];
  readonly secret?: {
    firstPlace(organizationId: string, id: string, entry: Required<Item>, idOf: IdOf): SecretPlace;
    storedIn(row: RowOf<C>): StoredSecret;
  };
}

/** An item in which fields that the row does not store are null. */
export type Unset<Item> = { readonly [K in keyof Required<Item>]: Required<Item>[K] | null };

/** Erases the types of a section, so that one list can hold all sections. */
export function sectionShape<Item extends object, C extends Columns>(
  given: SectionOf<Item, C>,
): SectionShape {
  const { announced } = given;
  return {
    name: announced.name,
    kind: announced.noun,
    fields: Object.keys(announced.item.properties),
    defaults: entryOf(given.defaults),
    defaultsOf: (item) => entryOf({ ...given.defaults, ...given.defaultsOf?.(itemOf(item as Entry)) }),
    repeats: given.repeats ?? false,
    keyOf: (entry) => given.keyOf(itemOf(entry)),
    referencesOf: (entry) => given.referencesOf?.(itemOf(entry)) ?? [],
    checked: (entry, deps) => entryOf(given.checked(itemOf(entry), deps)),
  };
}

/**
 * Safe, because an entry comes from the section's own part of a validated file or from the section's own rows.
 */
export function itemOf<Item extends object>(entry: Entry): Required<Item> {
  return entry as unknown as Required<Item>;
}

export function entryOf(item: object): Entry {
  return Object.fromEntries(Object.entries(item));
}

/** Sorts by the contract's order: items refer only to earlier sections. */
export function inFileOrder<S extends Pick<SectionShape, 'name'>>(sections: readonly S[]): readonly S[] {
  return sections.toSorted((one, other) => sectionNames.indexOf(one.name) - sectionNames.indexOf(other.name));
}
