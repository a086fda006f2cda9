import type { Kysely } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';

export interface AuditEntry {
  readonly id: string;
  readonly organizationId: string;
  readonly actor: { readonly type: 'user' | 'admin_token'; readonly userId: string };
  readonly requestId: string;
  /** Such as `session.create`. */
  readonly action: string;
  readonly targetType: string;
  readonly targetId: string;
  readonly before?: object;
  readonly after?: object;
}

/** A change of access, in the audit log of the organization it concerns. Never contains a secret. */
export async function appendAudit(db: Kysely<Database>, entry: AuditEntry): Promise<void> {
  await db
    .insertInto('audit_log')
    .values({
      organization_id: entry.organizationId,
      id: entry.id,
      actor_type: entry.actor.type,
      actor_user_id: entry.actor.userId,
      action: entry.action,
      target_type: entry.targetType,
      target_id: entry.targetId,
      before: entry.before === undefined ? null : JSON.stringify(entry.before),
      after: entry.after === undefined ? null : JSON.stringify(entry.after),
      request_id: entry.requestId,
    })
    .execute();
}
