import type { Caller } from '../../domain/caller.ts';
import type { AuditActor } from '../../store/configuration/audit-log.ts';
import type { Table } from './rows.ts';

const ACTORS = {
  session: 'user',
  user_key: 'api_key',
  admin_token: 'admin_token',
  api_token: 'system',
} as const satisfies Record<Caller['kind'], AuditActor['type']>;

/** A session of the admin token has the user ID of the first owner, who may be another person. */
export function actorOf({ kind, userId, keyId, isAdminSession }: Caller): AuditActor {
  return { type: isAdminSession === true ? 'admin_token' : ACTORS[kind], userId, keyId };
}

/** Columns that do not describe the change. */
const LEFT_OUT = new Set([
  'organization_id',
  'id',
  'key_id',
  'version',
  'created_at',
  'updated_at',
  'first_used_at',
  'last_used_at',
  'changed_version',
  'counter',
  'counted_from',
]);

/**
 * A row as it is stored in the audit log. Leaves out all binary columns, because sealed secrets are binary; a
 * replaced secret shows as a new `secret_version`.
 */
export function auditedRow({ columns }: Pick<Table, 'columns'>, row: object): Record<string, unknown> {
  const kept = Object.entries(row).filter(([name]) => {
    const column = columns[name];
    // Generated columns repeat others.
    return !LEFT_OUT.has(name) && column !== undefined && column.type !== 'bytea' && !column.generated;
  });
  return Object.fromEntries(kept);
}
