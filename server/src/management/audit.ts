import type { Kysely, Selectable, Transaction } from 'kysely';
import type { Caller } from '../domain/caller.ts';
import { smallestUuidAt } from '../store/ledger/ledger-partitions.ts';
import { type Database, tables } from '../store/postgres/schema.ts';

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

export function appendAudit(tx: Transaction<Database>, entry: AuditEntry): Promise<void> {
  return appendAudits(tx, [entry]);
}

/** What one statement carries; the entries of a large change are written in several. */
const ENTRIES_MAX = 500;

export async function appendAudits(tx: Transaction<Database>, entries: readonly AuditEntry[]): Promise<void> {
  for (let at = 0; at < entries.length; at += ENTRIES_MAX) {
    const some = entries.slice(at, at + ENTRIES_MAX);
    await tx.insertInto('audit_log').values(some.map(valuesOf)).execute();
  }
}

function valuesOf(entry: AuditEntry) {
  return {
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
  };
}

/** A clock that was set back must not hide what a request has written. */
const CLOCK_SLACK_MS = 60_000;

/** Whether a request has written anything: every write commits together with its entry. */
export async function hasAuditEntry(
  db: Kysely<Database>,
  organizationId: string,
  requestId: string,
): Promise<boolean> {
  const entry = await db
    .selectFrom('audit_log')
    .select('id')
    .where('organization_id', '=', organizationId)
    // The entry is younger than the request, so only the newest of the log are looked at.
    .where('id', '>=', smallestUuidAt(Math.max(0, timeMsOf(requestId) - CLOCK_SLACK_MS)))
    .where('request_id', '=', requestId)
    .executeTakeFirst();
  return entry !== undefined;
}

/** When a UUIDv7 was made: its first 48 bits are the time. */
export function timeMsOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
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
  'changed_version',
]);

/**
 * A row as the audit log may keep it. Sealed secrets are the binary columns, and no binary column passes,
 * whatever it is called; that a secret was replaced shows in `secret_version`.
 */
export function auditedRow<T extends keyof Database>(
  table: T,
  row: Selectable<Database[T]>,
): Record<string, unknown> {
  const columns: Readonly<Record<string, { readonly type: string; readonly generated: boolean }>> =
    tables[table];
  const kept = Object.entries(row).filter(([name]) => {
    const column = columns[name];
    // A computed column repeats what another one says.
    return !LEFT_OUT.has(name) && column !== undefined && column.type !== 'bytea' && !column.generated;
  });
  return Object.fromEntries(kept);
}
