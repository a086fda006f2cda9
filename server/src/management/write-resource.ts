import { headers } from '@relay/contract';
import type { Transaction } from 'kysely';
import type { Caller } from '../domain/caller.ts';
import { changeAccess } from '../store/configuration/config-version.ts';
import type { Database } from '../store/postgres/schema.ts';
import { appendAudit, auditedRow } from './audit.ts';
import { lockConfiguration } from './config-file/configuration-lock.ts';
import { demandNoneOwnedBelow, demandNotOwnedByFile } from './config-file/ownership.ts';
import type { ManagementDeps } from './deps.ts';
import { demandMatch, entityTag } from './entity-tag.ts';
import type { OwnedRows, OwnedTable, Patch, Row } from './owned-rows.ts';
import { isId, notFound } from './refusals.ts';

/** What of a call a write needs; any call of a management route fits. */
export interface WriteCall {
  readonly caller: Caller;
  readonly requestId: string;
  readonly header: (name: string) => string | undefined;
  readonly setHeader: (name: string, value: string) => void;
}

export interface ResourceWrites<T extends OwnedTable> {
  read(call: WriteCall, id: string): Promise<Row<T>>;
  create(
    call: WriteCall,
    insert: (tx: Transaction<Database>, id: string) => Promise<Row<T>>,
  ): Promise<Row<T>>;
  update(
    call: WriteCall,
    id: string,
    patchOf: (tx: Transaction<Database>, before: Row<T>) => Promise<Patch<T>> | Patch<T>,
  ): Promise<Row<T>>;
  /** `check` may refuse by throwing. */
  remove(
    call: WriteCall,
    id: string,
    check?: (tx: Transaction<Database>, before: Row<T>) => Promise<void>,
  ): Promise<undefined>;
}

type WriteDeps = Pick<ManagementDeps, 'ofOrganization' | 'snapshots' | 'newId' | 'fences'>;

/**
 * The one way a resource changes: what is written, its audit entry and the version that tells gateways
 * commit together or not at all, and this process has seen the change before the caller hears of it.
 */
export function resourceWrites<T extends OwnedTable>(
  deps: WriteDeps,
  rows: OwnedRows<T>,
  kind: string,
  /** What a change leaves behind and no gateway may miss: the fence is raised before it is answered. */
  isFenced: (after: Row<T>) => boolean = () => false,
): ResourceWrites<T> {
  type Change = { id: string; before: Row<T> | null; after: Row<T> | null };

  async function write(
    call: WriteCall,
    verb: 'create' | 'update' | 'delete',
    change: (tx: Transaction<Database>) => Promise<Change>,
  ): Promise<Change> {
    const { organizationId } = call.caller;
    const db = deps.ofOrganization(organizationId);
    const { result: done, version } = await changeAccess(db, organizationId, async (tx) => {
      await lockConfiguration(tx, organizationId, 'shared');
      const changed = await change(tx);
      await appendAudit(tx, {
        id: deps.newId(),
        caller: call.caller,
        requestId: call.requestId,
        action: `${kind}.${verb}`,
        targetType: kind,
        targetId: changed.id,
        before: changed.before && auditedRow(rows.table, changed.before),
        after: changed.after && auditedRow(rows.table, changed.after),
      });
      return { result: changed, keyIds: [] };
    });
    if (done.after !== null && isFenced(done.after)) await deps.fences.raise(organizationId, version);
    await deps.snapshots.refreshNow(organizationId);
    return done;
  }

  async function lockedRow(tx: Transaction<Database>, call: WriteCall, id: string): Promise<Row<T>> {
    const row = await rows.lock(tx, call.caller.organizationId, id);
    if (row === undefined) throw notFound(kind);
    demandNotOwnedByFile(kind, row);
    demandMatch(call.header, row);
    return row;
  }

  function tagged(call: WriteCall, row: Row<T> | null | undefined): Row<T> {
    if (row === null || row === undefined) throw notFound(kind);
    call.setHeader(headers.etag, entityTag(row));
    return row;
  }

  return {
    async read(call, id) {
      const { organizationId } = call.caller;
      const row = isId(id)
        ? await rows.find(deps.ofOrganization(organizationId), organizationId, id)
        : undefined;
      return tagged(call, row);
    },
    async create(call, insert) {
      const id = deps.newId();
      const { after } = await write(call, 'create', async (tx) => {
        return { id, before: null, after: await insert(tx, id) };
      });
      return tagged(call, after);
    },
    async update(call, id, patchOf) {
      if (!isId(id)) throw notFound(kind);
      const { after } = await write(call, 'update', async (tx) => {
        const before = await lockedRow(tx, call, id);
        const patch = await patchOf(tx, before);
        const updated = await rows.update(tx, call.caller.organizationId, id, patch);
        return { id: before.id, before, after: updated ?? null };
      });
      return tagged(call, after);
    },
    async remove(call, id, check) {
      if (!isId(id)) throw notFound(kind);
      await write(call, 'delete', async (tx) => {
        const before = await lockedRow(tx, call, id);
        await check?.(tx, before);
        await demandNoneOwnedBelow(tx, rows.table, kind, before);
        await rows.remove(tx, call.caller.organizationId, id);
        return { id: before.id, before, after: null };
      });
      return undefined;
    },
  };
}
