import type { RouteId } from '@relay/contract';
import type { Kysely } from 'kysely';
import type { Counted } from '../../domain/access.ts';
import type { Handlers } from '../../http/call.ts';
import type { Columns, Database } from '../../store/postgres/schema.ts';
import type { Dependent } from './dependents.ts';
import type { ManagementDeps } from './deps.ts';
import type { Tagged } from './entity-tag.ts';
import { countedRows } from './plan-counts.ts';
import type { Changeable } from './repeated-fields.ts';
import type { RowOf, Table } from './rows.ts';
import type { SectionOf } from './section.ts';
import { type Section, storedSection } from './stored-section.ts';
import { type ResourceWrites, resourceWrites } from './write-resource.ts';

/** A feature that `GET /api/relay/capabilities` reports. */
export interface Feature {
  readonly name: string;
  /** The feature is available when this route is served. */
  readonly route: RouteId;
  readonly isSelfHostedOnly: boolean;
}

/** A resource, typed by its table and configuration item. */
export interface ResourceOf<C extends Columns, Item extends object> {
  /** The name in the audit log and in messages. */
  readonly noun: string;
  readonly table: Table<C>;
  /** Set when a plan limits the number of rows. */
  readonly counted?: Counted;
  /** Rows of this table are deleted along with the row of the other table that the column names. */
  readonly parents?: readonly { readonly table: string; readonly column: string }[];
  /** The feature name in capabilities, and the route that provides it. */
  readonly feature?: readonly [name: string, route: RouteId];
  /** Hosted deployments reject its routes and its section of the configuration file. */
  readonly isSelfHostedOnly?: true;
  /** Whether no gateway may use an older state once the write is answered, given the row it leaves. */
  isFenced?(after: RowOf<C>): boolean;
  /** For a resource with a PUT. */
  readonly change?: Changeable<C>;
  /** Rows that a GET returns along with the row, which its entity tag covers. `locked`: kept from other writers until commit. */
  parts?(db: Kysely<Database>, row: RowOf<C>, how: 'read' | 'locked'): Promise<readonly Tagged[]>;
  readonly section?: SectionOf<Item, C>;
  handlers(deps: ManagementDeps, writes: ResourceWrites<C>): Handlers;
}

/** A resource as the lists hold it. Handlers, sections, features and dependents are derived from the list. */
export interface Resource {
  readonly noun: string;
  readonly table: Table;
  readonly parents: readonly { readonly table: string; readonly column: string }[];
  readonly feature: Feature | null;
  readonly isSelfHostedOnly: boolean;
  readonly section: Section | null;
  handlers(deps: ManagementDeps, dependents: readonly Dependent[]): Handlers;
}

export function defineResource<C extends Columns, Item extends object = never>(
  given: ResourceOf<C, Item>,
): Resource {
  const { noun, table, counted, section, feature, isSelfHostedOnly = false } = given;
  const count = counted === undefined ? {} : { counted: countedRows(counted, table) };
  const fence = given.isFenced === undefined ? {} : { isFenced: given.isFenced };
  const change = given.change === undefined ? {} : { change: given.change };
  const parts = given.parts === undefined ? {} : { parts: given.parts };
  return {
    noun,
    table,
    parents: given.parents ?? [],
    feature: feature === undefined ? null : { name: feature[0], route: feature[1], isSelfHostedOnly },
    isSelfHostedOnly,
    section: section === undefined ? null : storedSection(given, section),
    handlers: (deps, dependents) =>
      given.handlers(
        deps,
        resourceWrites(deps, { noun, table, dependents, ...count, ...fence, ...change, ...parts }),
      ),
  };
}
