import { type ConfigFile, type SectionDefinition, sectionNames } from '@relay/contract';
import type { Egress } from '../../kit/egress/index.ts';
import type { Columns } from '../../store/postgres/schema.ts';
import type { RowOf, Values } from './rows.ts';
import type { SecretPlace } from './sealed-secret.ts';

export type SectionName = Exclude<keyof ConfigFile, 'version'>;

export type Scalar = string | number | boolean | null;
export type Json = Scalar | readonly Json[] | { readonly [name: string]: Json };

/** One item with nothing left out: every field of its schema, other resources by what they are known by. */
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

/** The secret that a row holds, and what it is sealed to; null while it has none. */
export interface StoredSecret {
  readonly sealed: Buffer | null;
  readonly place: SecretPlace;
}

/** One kind of resource as the configuration file writes it; what reading and checking a file needs. */
export interface SectionShape {
  readonly name: SectionName;
  /** What an item is called in messages and in the audit log. */
  readonly kind: string;
  /** Its fields, in the order in which they are exported. */
  readonly fields: readonly string[];
  /** Of the fields that an item may leave out; an export leaves out what equals them. */
  readonly defaults: Entry;
  /** Whether items may share a key: they are told apart by their order. */
  readonly repeats: boolean;
  /** What an item is known by, in this file and from one apply to the next. */
  keyOf(entry: Entry): string;
  referencesOf(entry: Entry): readonly Reference[];
  /** The entry as it would be stored; refuses, naming the field, what the routes of the resource would refuse. */
  checked(entry: Entry, deps: SectionDeps): Entry;
}

/** A section written against the types of its own item and table. */
export interface SectionOf<Item extends object, C extends Columns> {
  /** How the contract announces it. */
  readonly announced: SectionDefinition & {
    readonly name: SectionName;
    readonly item: { readonly properties: object };
  };
  readonly defaults: Partial<Item>;
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

/** A row may lack what the file has to say. */
export type Unset<Item> = { readonly [K in keyof Required<Item>]: Required<Item>[K] | null };

/** The section as one type, so that the configuration file can hold all of them in one list. */
export function sectionShape<Item extends object, C extends Columns>(
  given: SectionOf<Item, C>,
): SectionShape {
  const { announced } = given;
  return {
    name: announced.name,
    kind: announced.noun,
    fields: Object.keys(announced.item.properties),
    defaults: entryOf(given.defaults),
    repeats: given.repeats ?? false,
    keyOf: (entry) => given.keyOf(itemOf(entry)),
    referencesOf: (entry) => given.referencesOf?.(itemOf(entry)) ?? [],
    checked: (entry, deps) => entryOf(given.checked(itemOf(entry), deps)),
  };
}

/** Entries reach a section only from its own list of the file, checked against its schema, or from its own rows. */
export function itemOf<Item extends object>(entry: Entry): Required<Item> {
  return entry as unknown as Required<Item>;
}

export function entryOf(item: object): Entry {
  return Object.fromEntries(Object.entries(item));
}

/** In the order of the contract: an item names only items of sections before its own. */
export function inFileOrder<S extends Pick<SectionShape, 'name'>>(sections: readonly S[]): readonly S[] {
  return sections.toSorted((one, other) => sectionNames.indexOf(one.name) - sectionNames.indexOf(other.name));
}
