import type { RouteId } from '@relay/contract';
import type { Kysely } from 'kysely';
import type { Counted } from '../../domain/access.ts';
import type { Handlers } from '../../http/call.ts';
import type { Columns, Database } from '../../store/postgres/schema.ts';
import type { Dependent } from './dependents.ts';
import type { ManagementDeps } from './deps.ts';
import type { Tagged } from './entity-tag.ts';
import type { Governor } from './governors.ts';
import type { NamedTable } from './name-changes.ts';
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

export interface Parent {
  readonly table: string;
  readonly column: string;
  /** The parent's noun, if the rows define its behavior. */
  readonly governs?: string;
}

/** A resource, typed by its table and configuration item. */
export interface ResourceOf<C extends Columns, Item extends object> {
  /** The name in the audit log and in messages. */
  readonly noun: string;
  readonly table: Table<C>;
  /** Set when a plan limits the number of rows. */
  readonly counted?: Counted;
  /** Rows of this table are deleted along with the row of the other table that the column names. */
  readonly parents?: readonly Parent[];
  /** The feature name in capabilities, and the route that provides it. */
  readonly feature?: readonly [name: string, route: RouteId];
  /** Hosted deployments reject its routes and its section of the configuration file. */
  readonly isSelfHostedOnly?: true;
  /** Whether no gateway may use an older state once the write is answered, given the row it leaves. */
  isFenced?(after: RowOf<C>): boolean;
  /** For a resource with a PUT. */
  readonly change?: Changeable<C>;
  /** Rows bring names that requests can call. */
  readonly callable?: NamedTable;
  /** Rows that a GET returns along with the row, which its entity tag covers. `locked`: kept from other writers until commit. */
  parts?(db: Kysely<Database>, row: RowOf<C>, how: 'read' | 'locked'): Promise<readonly Tagged[]>;
  readonly section?: SectionOf<Item, C>;
  handlers(deps: ManagementDeps, writes: ResourceWrites<C>): Handlers;
}

/** A resource as the lists hold it. Handlers, sections, features and dependents are derived from the list. */
export interface Resource {
  readonly noun: string;
  readonly table: Table;
  readonly parents: readonly Parent[];
  readonly feature: Feature | null;
  readonly isSelfHostedOnly: boolean;
  readonly section: Section | null;
  handlers(deps: ManagementDeps, dependents: readonly Dependent[]): Handlers;
}

export function defineResource<C extends Columns, Item extends object = never>(
  given: ResourceOf<C, Item>,
): Resource {
  const { noun, table, counted, section, feature, isSelfHostedOnly = false } = given;
  const parents = given.parents ?? [];
  const governors = governorsIn(parents);
  const count = counted === undefined ? {} : { counted: countedRows(counted, table) };
  const fence = given.isFenced === undefined ? {} : { isFenced: given.isFenced };
  const change = given.change === undefined ? {} : { change: given.change };
  const callable = given.callable === undefined ? {} : { callable: given.callable };
  const parts = given.parts === undefined ? {} : { parts: given.parts };
  return {
    noun,
    table,
    parents,
    feature: feature === undefined ? null : { name: feature[0], route: feature[1], isSelfHostedOnly },
    isSelfHostedOnly,
    section: section === undefined ? null : storedSection({ ...given, governors }, section),
    handlers: (deps, dependents) =>
      given.handlers(
        deps,
        resourceWrites(deps, {
          noun,
          table,
          dependents,
          governors,
          ...count,
          ...fence,
          ...change,
          ...callable,
          ...parts,
        }),
      ),
  };
}

export function governorsIn(parents: readonly Parent[]): readonly Governor[] {
  return parents.flatMap(({ table, column, governs }) =>
    governs === undefined ? [] : [{ noun: governs, table, column }],
  );
}
