import type { Kysely } from 'kysely';
import { smallestUuidAt } from '../../kit/uuid-time.ts';
import type { Database } from '../../store/postgres/schema.ts';

/** All conditions must hold. */
export interface EntrySearch {
  readonly organizationId: string;
  /** A user or a key. A user matches what their keys did, too. */
  readonly actorId?: string | undefined;
  readonly action?: string | undefined;
  readonly targetType?: string | undefined;
  readonly targetId?: string | undefined;
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  /** The page starts before this id. */
  readonly beforeId?: string | undefined;
  readonly limit: number;
}

export type EntryRow = Awaited<ReturnType<ReturnType<typeof entriesQuery>['execute']>>[number];

type ActorColumn = 'actor_user_id' | 'actor_key_id';

/** Newest first, with the names of users, removed members and keys. */
export function entriesQuery(db: Kysely<Database>, search: EntrySearch) {
  return db
    .with('entry', (inner) => pageOf(inner as unknown as Kysely<Database>, search))
    .selectFrom('entry')
    .leftJoin('users', 'users.id', 'entry.actor_user_id')
    .leftJoin('former_members as former', (join) =>
      join
        .onRef('former.user_id', '=', 'entry.actor_user_id')
        .on('former.organization_id', '=', search.organizationId),
    )
    .leftJoin('api_keys', (join) =>
      join
        .onRef('api_keys.id', '=', 'entry.actor_key_id')
        .on('api_keys.organization_id', '=', search.organizationId),
    )
    .selectAll('entry')
    .select(({ fn }) => fn.coalesce('users.name', 'former.name').as('user_name'))
    .select('api_keys.name as key_name')
    .orderBy('entry.id', 'desc');
}

/**
 * An actor is in one of two columns with separate indexes, so each index provides up to a page and the union is
 * cut to one.
 */
function pageOf(db: Kysely<Database>, search: EntrySearch) {
  const { actorId } = search;
  if (actorId === undefined) return entriesOf(db, search).limit(search.limit);
  const by = (column: ActorColumn) =>
    db.selectFrom(entriesOf(db, search, { column, actorId }).limit(search.limit).as(column)).selectAll();
  return by('actor_user_id').unionAll(by('actor_key_id')).orderBy('id', 'desc').limit(search.limit);
}

function entriesOf(
  db: Kysely<Database>,
  search: EntrySearch,
  actor?: { readonly column: ActorColumn; readonly actorId: string },
) {
  const { beforeId, action, targetType, targetId } = search;
  return db
    .selectFrom('audit_log')
    .select(['id', 'actor_type', 'actor_user_id', 'actor_key_id', 'action', 'target_type', 'target_id'])
    .select(['before', 'after', 'request_id'])
    .where('organization_id', '=', search.organizationId)
    .where('id', '>=', smallestUuidAt(search.fromMs))
    .where('id', '<', smallestUuidAt(search.toMs))
    .$if(beforeId !== undefined, (query) => query.where('id', '<', beforeId ?? ''))
    .$if(actor !== undefined, (query) =>
      query.where(actor?.column ?? 'actor_user_id', '=', actor?.actorId ?? ''),
    )
    .$if(action !== undefined, (query) => query.where('action', '=', action ?? ''))
    .$if(targetType !== undefined, (query) => query.where('target_type', '=', targetType ?? ''))
    .$if(targetId !== undefined, (query) => query.where('target_id', '=', targetId ?? ''))
    .orderBy('id', 'desc');
}
