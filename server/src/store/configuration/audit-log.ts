import type { Kysely } from 'kysely';
import { smallestUuidAt, uuidTimeMs } from '../../kit/uuid-time.ts';
import type { Database } from '../postgres/schema.ts';

/** Who did it. A key acts for its owner, so that an entry by a key has both. */
export interface AuditActor {
  readonly type: 'user' | 'api_key' | 'admin_token' | 'system';
  readonly userId: string;
  readonly keyId?: string | null;
}

export interface AuditEntry {
  readonly id: string;
  readonly organizationId: string;
  readonly actor: AuditActor;
  readonly requestId: string;
  /** Such as `provider.create`. */
  readonly action: string;
  readonly targetType: string;
  readonly targetId: string;
  /** Never a secret. */
  readonly before?: object | null;
  readonly after?: object | null;
}

/** What one statement carries; the entries of a large change are written in several. */
const ENTRIES_MAX = 500;

/** Called in the transaction of what the entries are about: both commit or neither. */
export async function appendAudit(db: Kysely<Database>, ...entries: readonly AuditEntry[]): Promise<void> {
  for (let at = 0; at < entries.length; at += ENTRIES_MAX) {
    const some = entries.slice(at, at + ENTRIES_MAX);
    await db.insertInto('audit_log').values(some.map(valuesOf)).execute();
  }
}

function valuesOf(entry: AuditEntry) {
  return {
    organization_id: entry.organizationId,
    id: entry.id,
    actor_type: entry.actor.type,
    actor_user_id: entry.actor.userId,
    actor_key_id: entry.actor.keyId ?? null,
    action: entry.action,
    target_type: entry.targetType,
    target_id: entry.targetId,
    before: jsonOf(entry.before),
    after: jsonOf(entry.after),
    request_id: entry.requestId,
  };
}

function jsonOf(value: object | null | undefined): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
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
    // The entry is younger than the request, so only the newest entries are searched.
    .where('id', '>=', smallestUuidAt(Math.max(0, uuidTimeMs(requestId) - CLOCK_SLACK_MS)))
    .where('request_id', '=', requestId)
    .executeTakeFirst();
  return entry !== undefined;
}
