import type { ConfigFile } from '@relay/contract';
import type { Egress } from '../../../kit/egress/index.ts';
import type { OwnedTable, Row } from '../../owned-rows.ts';

export type SectionName = Exclude<keyof ConfigFile, 'version'>;

/** The tables whose rows the file may own. */
export type ConfiguredTable = Extract<
  OwnedTable,
  | 'providers'
  | 'credentials'
  | 'endpoints'
  | 'lanes'
  | 'lane_memberships'
  | 'pricing_policies'
  | 'limit_policies'
  | 'guardrails'
  | 'guardrail_bindings'
>;

export type Scalar = string | number | boolean | null;
export type Json = Scalar | readonly Json[] | { readonly [name: string]: Json };

/** One item with nothing left out: every field of its schema, other resources by what they are known by. */
export type Entry = Readonly<Record<string, Json>>;

/** What of an entry is stored where. */
export type Columns = Readonly<Record<string, Json | Buffer>>;

/** A field that names an item of another section, by the key of that item. */
export interface Reference {
  readonly field: string;
  readonly section: SectionName;
  readonly key: string;
}

export interface SectionDeps {
  readonly egress: Pick<Egress, 'check'>;
}

/** One kind of resource as the file has it. Everything that differs between the kinds is said here. */
export interface Section {
  readonly name: SectionName;
  /** What an item is called in messages and in the audit log. */
  readonly kind: string;
  readonly table: ConfiguredTable;
  /** Its fields, in the order in which they are exported. */
  readonly fields: readonly string[];
  /** Of the fields that an item may leave out; an export leaves out what equals them. */
  readonly defaults: Entry;
  /** Whether items may share a key: they are told apart by their order. */
  readonly repeats: boolean;
  /** What an item is known by, in this file and from one apply to the next. */
  keyOf(entry: Entry): string;
  referencesOf(entry: Entry): readonly Reference[];
  entryOf(row: Row<ConfiguredTable>, keyOf: (section: SectionName, id: string) => string): Entry;
  /** The entry as it would be stored; refuses, naming the field, what the routes of the resource would refuse. */
  checked(entry: Entry, deps: SectionDeps): Entry;
  columnsOf(entry: Entry, idOf: (section: SectionName, key: string) => string): Columns;
  /** Completes what the rows do not say, for an export. */
  completed(entries: readonly Entry[]): readonly Entry[];
}

/** A section written against the types of its own item and table. */
export interface SectionOf<Item extends object, T extends ConfiguredTable> {
  readonly name: SectionName;
  readonly kind: string;
  readonly table: T;
  readonly schema: { readonly properties: object };
  readonly defaults: Partial<Item>;
  readonly repeats?: true;
  keyOf(entry: Required<Item>): string;
  referencesOf?(entry: Required<Item>): readonly Reference[];
  entryOf(row: Row<T>, keyOf: (section: SectionName, id: string) => string): Unset<Item>;
  checked(entry: Required<Item>, deps: SectionDeps): Required<Item>;
  columnsOf(entry: Required<Item>, idOf: (section: SectionName, key: string) => string): Columns;
  completed?(entries: readonly Unset<Item>[]): readonly Required<Item>[];
}

/** A row may lack what the file has to say. */
export type Unset<Item> = { readonly [K in keyof Required<Item>]: Required<Item>[K] | null };

export function defineSection<Item extends object, T extends ConfiguredTable>(
  given: SectionOf<Item, T>,
): Section {
  const section = {
    referencesOf: () => [],
    completed: (entries: readonly unknown[]) => entries,
    repeats: false,
    ...given,
    fields: Object.keys(given.schema.properties),
  };
  // The table of sections holds them all as one type; each is used with items and rows of its own alone.
  return section as unknown as Section;
}
