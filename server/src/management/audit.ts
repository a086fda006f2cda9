import type { Transaction } from 'kysely';
import type { Caller } from '../domain/caller.ts';
import { type Database, tables } from '../store/schema.ts';
import type { OwnedTable, Row } from './owned-rows.ts';

export interface AuditEntry {
  readonly id: string;
  readonly caller: Caller;
  readonly requestId: string;
  /** Such as `provider.create`. */
  readonly action: string;
  readonly targetType: string;
  readonly targetId: string;
  readonly before: object | null;
  readonly after: object | null;
}

const ACTORS = {
  session: 'user',
  user_key: 'api_key',
  admin_token: 'admin_token',
  api_token: 'system',
} as const satisfies Record<Caller['kind'], string>;

export async function appendAudit(tx: Transaction<Database>, entry: AuditEntry): Promise<void> {
  await tx
    .insertInto('audit_log')
    .values({
      organization_id: entry.caller.organizationId,
      id: entry.id,
      actor_type: ACTORS[entry.caller.kind],
      actor_user_id: entry.caller.userId,
      actor_key_id: entry.caller.keyId,
      action: entry.action,
      target_type: entry.targetType,
      target_id: entry.targetId,
      before: entry.before === null ? null : JSON.stringify(entry.before),
      after: entry.after === null ? null : JSON.stringify(entry.after),
      request_id: entry.requestId,
    })
    .execute();
}

/** Bookkeeping that says nothing about the change. */
const LEFT_OUT = new Set([
  'organization_id',
  'id',
  'key_id',
  'version',
  'created_at',
  'updated_at',
  'last_used_at',
]);

/**
 * A row as the audit log may keep it. Sealed secrets are the binary columns, and no binary column passes,
 * whatever it is called; that a secret was replaced shows in `secret_version`.
 */
export function auditedRow<T extends OwnedTable>(table: T, row: Row<T>): Record<string, unknown> {
  const columns: Readonly<Record<string, { readonly type: string; readonly generated: boolean }>> =
    tables[table];
  const kept = Object.entries(row).filter(([name]) => {
    const column = columns[name];
    // A computed column repeats what another one says.
    return !LEFT_OUT.has(name) && column !== undefined && column.type !== 'bytea' && !column.generated;
  });
  return Object.fromEntries(kept);
}
