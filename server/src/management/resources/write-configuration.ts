import type { Transaction } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import { appendAudit } from '../../store/configuration/audit-log.ts';
import { bumpConfigVersion, readConfigVersion } from '../../store/configuration/config-version.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { actorOf, auditedRow } from './audited-row.ts';
import { lockConfiguration } from './configuration-lock.ts';
import type { ManagementDeps } from './deps.ts';
import type { Table } from './rows.ts';

export type WriteDeps = Pick<ManagementDeps, 'ofOrganization' | 'snapshots' | 'newId' | 'fences' | 'dryRun'>;

/** Who writes, and for which request. */
export interface WrittenBy {
  readonly caller: Caller;
  readonly requestId: string;
}

/** One changed resource, as the audit log records it. */
export interface RecordedChange {
  readonly noun: string;
  readonly id: string;
  readonly before: object | null;
  readonly after: object | null;
}

/** The result of a write. */
export interface Written<Result> {
  readonly result: Result;
  readonly changes: readonly RecordedChange[];
  /** Keys that gateways must reload. */
  readonly keyIds?: readonly string[];
  /** Whether no gateway may use the old state once the caller is answered; raises the fence. */
  readonly isFenced?: boolean;
}

/** Describes the change of a row for the audit log. */
export function recorded(
  { noun, table }: { readonly noun: string; readonly table: Pick<Table, 'columns'> },
  before: { readonly id: string } | null,
  after: { readonly id: string } | null,
): RecordedChange {
  return {
    noun,
    id: (after ?? before)?.id ?? '',
    before: before && auditedRow(table, before),
    after: after && auditedRow(table, after),
  };
}

/**
 * Every change of the configuration goes through here. Commits the change, its audit entries and the new
 * version, which gateways poll, together or not at all. A write without changes creates no version. This
 * process uses the new configuration before the caller gets the response.
 */
export async function writeConfiguration<Result>(
  deps: WriteDeps,
  by: WrittenBy,
  lock: 'shared' | 'alone',
  change: (tx: Transaction<Database>) => Promise<Written<Result>>,
): Promise<Result> {
  if (deps.dryRun !== undefined) return (await change(deps.dryRun)).result;
  const { organizationId } = by.caller;
  const done = await deps
    .ofOrganization(organizationId)
    .transaction()
    .execute(async (tx) => {
      await lockConfiguration(tx, organizationId, lock);
      const { result, changes, keyIds, isFenced = false } = await change(tx);
      await appendAudit(tx, ...changes.map((each) => entryOf(deps, by, each)));
      const version = changes.length === 0 ? null : await bumpConfigVersion(tx, organizationId, keyIds);
      // A write without changes may repeat one whose fence failed.
      const fence = isFenced ? (version ?? (await readConfigVersion(tx, organizationId))) : null;
      return { result, version, fence };
    });
  if (done.fence !== null) await deps.fences.raise(organizationId, done.fence);
  if (done.version !== null) await deps.snapshots.refreshNow(organizationId);
  return done.result;
}

export function entryOf(
  { newId }: Pick<WriteDeps, 'newId'>,
  { caller, requestId }: WrittenBy,
  change: RecordedChange,
) {
  const { noun, id, before, after } = change;
  const verb = before === null ? 'create' : after === null ? 'delete' : 'update';
  return {
    id: newId(),
    organizationId: caller.organizationId,
    actor: actorOf(caller),
    requestId,
    action: `${noun}.${verb}`,
    targetType: noun,
    targetId: id,
    before,
    after,
  };
}
