import { headers } from '@relay/contract';
import type { Transaction } from 'kysely';
import type { Columns, Database } from '../../store/postgres/schema.ts';
import { type Dependent, demandNoneOwnedBelow } from './dependents.ts';
import type { ManagementDeps } from './deps.ts';
import { demandMatch, entityTag } from './entity-tag.ts';
import { demandNotOwnedByFile } from './ownership.ts';
import { type ListCall, type ListRoute, listFound } from './paging.ts';
import { demandRoom, type PlanCount } from './plan-counts.ts';
import { isId, notFound } from './refusals.ts';
import { type OwnedRows, ownedRows, type PatchOf, type RowOf, type Table } from './rows.ts';
import {
  type RecordedChange,
  recorded,
  type WriteDeps,
  type WrittenBy,
  writeConfiguration,
} from './write-configuration.ts';

/** The parts of a call that a write needs. Every management call has them. */
export interface WriteCall extends WrittenBy {
  readonly header: (name: string) => string | undefined;
  readonly setHeader: (name: string, value: string) => void;
}

/** The properties of a resource that writes depend on. */
export interface WrittenResource<C extends Columns> {
  readonly noun: string;
  readonly table: Table<C>;
  readonly counted?: PlanCount;
  readonly dependents: readonly Dependent[];
  isFenced?(after: RowOf<C>): boolean;
}

/** A write within its transaction. */
export interface Writing {
  readonly tx: Transaction<Database>;
  readonly organizationId: string;
  /** Adds another change of the same transaction to the audit log. */
  readonly also: (change: RecordedChange) => void;
}

export interface ResourceWrites<C extends Columns> {
  readonly rows: OwnedRows<C>;
  list(call: ListCall, route: ListRoute): Promise<RowOf<C>[]>;
  read(call: WriteCall, id: string): Promise<RowOf<C>>;
  create(call: WriteCall, insert: (writing: Writing, id: string) => Promise<RowOf<C>>): Promise<RowOf<C>>;
  update(
    call: WriteCall,
    id: string,
    patchOf: (writing: Writing, before: RowOf<C>) => Promise<PatchOf<C>> | PatchOf<C>,
  ): Promise<RowOf<C>>;
  /** `check` may throw to reject the deletion. */
  remove(
    call: WriteCall,
    id: string,
    check?: (writing: Writing, before: RowOf<C>) => Promise<void>,
  ): Promise<undefined>;
}

/** Reads and writes of one resource, for its routes. */
export function resourceWrites<C extends Columns>(
  deps: WriteDeps & Pick<ManagementDeps, 'ofOrganization'>,
  resource: WrittenResource<C>,
): ResourceWrites<C> {
  const { noun, table } = resource;
  const rows = ownedRows(table);

  async function write(
    call: WriteCall,
    change: (writing: Writing) => Promise<{ before: RowOf<C> | null; after: RowOf<C> | null }>,
  ): Promise<RowOf<C> | null> {
    const { organizationId } = call.caller;
    return writeConfiguration(deps, call, 'shared', async (tx) => {
      const others: RecordedChange[] = [];
      const { before, after } = await change({ tx, organizationId, also: (other) => others.push(other) });
      const isFenced = after !== null && resource.isFenced?.(after) === true;
      return { result: after, changes: [...others, recorded(resource, before, after)], isFenced };
    });
  }

  const tagged = (call: WriteCall, row: RowOf<C> | null | undefined): RowOf<C> => withTag(call, noun, row);

  return {
    rows,
    list: (call, route) => {
      const { organizationId } = call.caller;
      const db = deps.ofOrganization(organizationId);
      return listFound(call, route, (range) => rows.list(db, organizationId, range));
    },
    async read(call, id) {
      const { organizationId } = call.caller;
      if (!isId(id)) throw notFound(noun);
      return tagged(call, await rows.find(deps.ofOrganization(organizationId), organizationId, id));
    },
    async create(call, insert) {
      const after = await write(call, async (writing) => {
        const { counted } = resource;
        if (counted !== undefined) await demandRoom(writing.tx, writing.organizationId, counted);
        return { before: null, after: await insert(writing, deps.newId()) };
      });
      return tagged(call, after);
    },
    async update(call, id, patchOf) {
      if (!isId(id)) throw notFound(noun);
      const after = await write(call, async (writing) => {
        const before = await lockedRow(rows, noun, writing, call, id);
        const patch = await patchOf(writing, before);
        const updated = await rows.update(writing.tx, writing.organizationId, id, patch);
        return { before, after: updated ?? null };
      });
      return tagged(call, after);
    },
    async remove(call, id, check) {
      if (!isId(id)) throw notFound(noun);
      await write(call, async (writing) => {
        const before = await lockedRow(rows, noun, writing, call, id);
        await check?.(writing, before);
        await demandNoneOwnedBelow(writing.tx, resource, before);
        await rows.remove(writing.tx, writing.organizationId, id);
        return { before, after: null };
      });
      return undefined;
    },
  };
}

/** The row, kept from other writers until commit, that the caller may change. */
async function lockedRow<C extends Columns>(
  rows: OwnedRows<C>,
  noun: string,
  { tx, organizationId }: Writing,
  call: WriteCall,
  id: string,
): Promise<RowOf<C>> {
  const row = await rows.lock(tx, organizationId, id);
  if (row === undefined) throw notFound(noun);
  demandNotOwnedByFile(noun, row);
  demandMatch(call.header, row);
  return row;
}

/** The row, with its version in the `ETag` of the response; 404 when there is none. */
function withTag<Row extends { readonly version: number }>(
  call: WriteCall,
  noun: string,
  row: Row | null | undefined,
): Row {
  if (row === null || row === undefined) throw notFound(noun);
  call.setHeader(headers.etag, entityTag(row));
  return row;
}
