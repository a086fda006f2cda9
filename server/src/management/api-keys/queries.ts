import { type Insertable, type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { PlanCount } from '../resources/plan-counts.ts';
import { ownedRows, type RowRange, storedTable } from '../resources/rows.ts';
import { standingsOf } from './standing.ts';

const teams = ownedRows(storedTable('teams'));

/** Keys that are neither revoked nor expired. */
export const keyCount: PlanCount = {
  counted: 'api_keys',
  noun: 'API keys',
  taken: (organizationId) => sql`
    select from api_keys
    where organization_id = ${organizationId} and revoked_at is null and (expires_at is null or expires_at > now())`,
};

export type KeyRow = Selectable<Database['api_keys']>;

/** The keys a call reaches: those of one member, or with `userId` undefined those of the whole organization. */
export interface KeyScope {
  readonly organizationId: string;
  readonly userId: string | undefined;
}

/** In creation order, whatever their status. */
export function listKeys(
  db: Kysely<Database>,
  scope: KeyScope,
  { afterId, limit }: RowRange,
): Promise<KeyRow[]> {
  return keysIn(db, scope)
    .$if(afterId !== undefined, (query) => query.where('id', '>', afterId ?? ''))
    .orderBy('id')
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
    .execute();
}

export function findKey(db: Kysely<Database>, scope: KeyScope, id: string): Promise<KeyRow | undefined> {
  return keysIn(db, scope).where('id', '=', id).executeTakeFirst();
}

/** Revokes those of a member that are not revoked yet. The caller has locked the member. */
export function revokeKeys(
  tx: Transaction<Database>,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
  now: Date,
): Promise<KeyRow[]> {
  return tx
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .returningAll()
    .execute();
}

/** Each attempt after the first means that another transaction moved the key meanwhile. */
const LOCK_ATTEMPTS_MAX = 10;

/**
 * Locks the key until commit, so that no concurrent transaction changes or references it. Its owner and team are held first:
 * PostgreSQL holds them anyway when a transaction writes the key twice, which it does after it has the configuration clock, and
 * a transaction that deletes them locks them before the key. If the key got another team while this waited, it starts again:
 * that team isn't held, and a transaction that deletes it may wait for the key.
 */
export async function lockKey(
  tx: Transaction<Database>,
  scope: KeyScope,
  id: string,
): Promise<KeyRow | undefined> {
  const { organizationId } = scope;
  for (let attempt = 0; attempt < LOCK_ATTEMPTS_MAX; attempt += 1) {
    const known = await findKey(tx, scope, id);
    if (known === undefined) return undefined;
    await sql`savepoint before_locks`.execute(tx);
    await standingsOf(tx, organizationId, [known.user_id], { hold: true });
    if (known.team_id !== null) await teams.hold(tx, organizationId, known.team_id);
    const locked = await keysIn(tx, scope).where('id', '=', id).forUpdate().executeTakeFirst();
    const isHeld = locked === undefined || locked.team_id === known.team_id;
    // Going back to the savepoint gives up the locks; releasing it keeps them.
    if (!isHeld) await sql`rollback to savepoint before_locks`.execute(tx);
    await sql`release savepoint before_locks`.execute(tx);
    if (isHeld) return locked;
  }
  throw new RelayError('store_unavailable', { internal: `key ${id} keeps moving between teams` });
}

/** Undefined when a key of any organization has the same public ID; the transaction continues. */
export function insertKey(
  tx: Transaction<Database>,
  row: Insertable<Database['api_keys']>,
): Promise<KeyRow | undefined> {
  return tx
    .insertInto('api_keys')
    .values(row)
    .onConflict((clash) => clash.column('public_id').doNothing())
    .returningAll()
    .executeTakeFirst();
}

export function updateKey(
  tx: Transaction<Database>,
  locked: KeyRow,
  { labels, ...patch }: Partial<Pick<KeyRow, 'name' | 'revoked_at' | 'team_id' | 'labels'>>,
): Promise<KeyRow> {
  return tx
    .updateTable('api_keys')
    .set({ ...patch, ...(labels !== undefined && { labels: JSON.stringify(labels) }) })
    .where('organization_id', '=', locked.organization_id)
    .where('id', '=', locked.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

function keysIn(db: Kysely<Database>, { organizationId, userId }: KeyScope) {
  return db
    .selectFrom('api_keys')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? ''));
}
