import { headers } from '@relay/contract';
import type { Kysely, Transaction } from 'kysely';
import type { Columns, Database } from '../../store/postgres/schema.ts';
import { type Dependent, demandNoneOwnedBelow, recordedDeletions, takenWith } from './dependents.ts';
import type { ManagementDeps } from './deps.ts';
import { demandMatch, entityTag, type Tagged } from './entity-tag.ts';
import { demandGovernorsFree, type Governor } from './governors.ts';
import { demandNamesKept, type NamedTable } from './name-changes.ts';
import { demandNotOwnedByFile } from './ownership.ts';
import { type ListCall, type ListRoute, listFound } from './paging.ts';
import { demandRoom, type PlanCount } from './plan-counts.ts';
import { isId, notFound } from './refusals.ts';
import { type Changeable, changedColumns, changedFields } from './repeated-fields.ts';
import { type OwnedRows, ownedRows, type PatchOf, type RowOf, type Table } from './rows.ts';
import { type RecordedChange, recorded, type WrittenBy, writeConfiguration } from './write-configuration.ts';

/** The parts of a call that a write needs. Every management call has them. */
export interface WriteCall extends WrittenBy {
  readonly header: (name: string) => string | undefined;
  readonly setHeader: (name: string, value: string) => void;
  readonly body?: unknown;
  readonly query?: unknown;
}

export interface UpdateCall extends WriteCall {
  readonly body: object;
}

/** The properties of a resource that writes depend on. */
export interface WrittenResource<C extends Columns> {
  readonly noun: string;
  readonly table: Table<C>;
  readonly counted?: PlanCount;
  readonly dependents: readonly Dependent[];
  readonly governors?: readonly Governor[];
  /** Rows bring names that requests can call: writes keep what existing names stand for, unless they say otherwise. */
  readonly callable?: NamedTable;
  isFenced?(after: RowOf<C>): boolean;
  readonly change?: Changeable<C>;
  parts?(db: Kysely<Database>, row: RowOf<C>, how: 'read' | 'locked'): Promise<readonly Tagged[]>;
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
    call: UpdateCall,
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
  deps: ManagementDeps,
  resource: WrittenResource<C>,
): ResourceWrites<C> {
  const { noun, table } = resource;
  const rows = ownedRows(table);

  const write = (call: WriteCall, change: RowChange<C>) => writeRow(deps, resource, call, change);

  return {
    rows,
    list: (call, route) => {
      const { organizationId } = call.caller;
      const db = deps.ofOrganization(organizationId);
      return listFound(call, route, (range) => rows.list(db, organizationId, range));
    },
    async read(call, id) {
      const { organizationId } = call.caller;
      const db = deps.ofOrganization(organizationId);
      const row = demandFound(noun, isId(id) ? await rows.find(db, organizationId, id) : undefined);
      call.setHeader(headers.etag, await tagOf(resource, db, row));
      return row;
    },
    async create(call, insert) {
      const after = await write(call, async (writing) => {
        const { counted } = resource;
        if (counted !== undefined) await demandRoom(writing.tx, writing.organizationId, counted);
        const inserted = await insert(writing, deps.newId());
        await demandGovernorsFree(writing.tx, resource.governors ?? [], inserted);
        return { before: null, after: inserted };
      });
      return demandFound(noun, after);
    },
    async update(call, id, patchOf) {
      if (!isId(id)) throw notFound(noun);
      const after = await write(call, async (writing) => {
        const before = await lockedRow(resource, rows, writing, call, id);
        if (await changesNothing(deps, resource, writing.tx, call.body, before))
          return { before, after: before };
        const patch = changedColumns(before, await patchOf(writing, before));
        if (Object.keys(patch).length === 0) return { before, after: before };
        const updated = await rows.update(writing.tx, writing.organizationId, id, patch);
        return { before, after: updated ?? null };
      });
      return demandFound(noun, after);
    },
    async remove(call, id, check) {
      if (!isId(id)) throw notFound(noun);
      await write(call, async (writing) => {
        const before = await lockedRow(resource, rows, writing, call, id);
        // What the file owns comes first: its owner alone can remove it, so the other advice would not work.
        await demandNoneOwnedBelow(writing.tx, resource, before);
        await check?.(writing, before);
        const taken = await takenWith(writing.tx, writing.organizationId, resource.dependents, [before.id]);
        for (const change of recordedDeletions(taken)) writing.also(change);
        await rows.remove(writing.tx, writing.organizationId, id);
        return { before, after: null };
      });
      return undefined;
    },
  };
}

type RowChange<C extends Columns> = (
  writing: Writing,
) => Promise<{ before: RowOf<C> | null; after: RowOf<C> | null }>;

/** Answers the row that is left, with its tag in the `ETag` of the response. */
async function writeRow<C extends Columns>(
  deps: ManagementDeps,
  resource: WrittenResource<C>,
  call: WriteCall,
  change: RowChange<C>,
): Promise<RowOf<C> | null> {
  const { organizationId } = call.caller;
  const { callable } = resource;
  const { row, tag } = await writeConfiguration(deps, call, 'shared', async (tx) => {
    const others: RecordedChange[] = [];
    const { before, after } = await change({ tx, organizationId, also: (other) => others.push(other) });
    if (callable !== undefined && !takesOver(call))
      await demandNamesKept(tx, organizationId, { table: callable, before, after });
    const isFenced = after !== null && resource.isFenced?.(after) === true;
    // A write that leaves the row as it was is not recorded.
    const own = before === after ? [] : [recorded(resource, before, after)];
    const result = { row: after, tag: after && (await tagOf(resource, tx, after)) };
    return { result, changes: [...others, ...own], isFenced };
  });
  if (tag !== null) call.setHeader(headers.etag, tag);
  return row;
}

/** A deletion has no body, and says it in its query. */
function takesOver({ body, query }: WriteCall): boolean {
  return [body, query].some(
    (sent) => typeof sent === 'object' && sent !== null && Reflect.get(sent, 'takes_over') === true,
  );
}

/** Whether the body only repeats what is stored. Throws for a field with a value that it cannot have. */
async function changesNothing<C extends Columns>(
  deps: ManagementDeps,
  { change }: WrittenResource<C>,
  tx: Transaction<Database>,
  sent: object,
  before: RowOf<C>,
): Promise<boolean> {
  if (change === undefined) return false;
  const changed = changedFields(change.body, sent, await change.wire(deps, tx, before));
  return Object.keys(changed).length === 0;
}

/** The row, kept from other writers until commit, that the caller may change. */
async function lockedRow<C extends Columns>(
  resource: WrittenResource<C>,
  rows: OwnedRows<C>,
  { tx, organizationId }: Writing,
  call: WriteCall,
  id: string,
): Promise<RowOf<C>> {
  const { noun } = resource;
  const row = demandFound(noun, await rows.lock(tx, organizationId, id));
  demandNotOwnedByFile(noun, row);
  await demandGovernorsFree(tx, resource.governors ?? [], row);
  demandMatch(call.header, row, await resource.parts?.(tx, row, 'locked'));
  return row;
}

async function tagOf<C extends Columns>(
  { parts }: WrittenResource<C>,
  db: Kysely<Database>,
  row: RowOf<C>,
): Promise<string> {
  return entityTag(row, await parts?.(db, row, 'read'));
}

function demandFound<Row>(noun: string, row: Row | null | undefined): Row {
  if (row === null || row === undefined) throw notFound(noun);
  return row;
}
