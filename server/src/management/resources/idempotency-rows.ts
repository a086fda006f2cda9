import { type Kysely, sql } from 'kysely';
import type { KeyedDigest } from '../../kit/seal.ts';
import type { Database } from '../../store/postgres/schema.ts';

/** An idempotency key of one caller, with the request that claims it. */
export interface Claim {
  readonly organizationId: string;
  readonly callerId: string;
  readonly key: string;
  readonly method: string;
  readonly path: string;
  /** Keyed, because bodies may hold secrets. */
  readonly requestDigest: KeyedDigest;
}

/** The request that claimed the key earlier. */
export interface KnownRequest {
  readonly requestHash: Buffer;
  /** The request ended, or its process died. */
  readonly ended: boolean;
  readonly sealedAnswer: Buffer | null;
}

/** A claim may be released between the attempt to insert it and the lookup of its holder. */
const ATTEMPTS_MAX = 3;
const FORGOTTEN_AT_ONCE_MAX = 50;

/** Claims the key, or returns the request that claimed it first. Uses the database's clock. */
export async function claimKey(
  db: Kysely<Database>,
  claim: Claim,
): Promise<KnownRequest | 'claimed' | 'unsettled'> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const { rows } = await sql`
      insert into idempotency_keys (organization_id, caller_id, key, method, path, request_hash, expires_at)
      values (${claim.organizationId}, ${claim.callerId}, ${claim.key}, ${claim.method}, ${claim.path},
        ${claim.requestDigest.bytes}, now() + interval '24 hours')
      on conflict (organization_id, caller_id, key) do update
        set method = excluded.method, path = excluded.path, request_hash = excluded.request_hash,
          response_status = null, sealed_response = null, created_at = now(), expires_at = excluded.expires_at
        where idempotency_keys.expires_at <= now()
      returning key`.execute(db);
    if (rows.length > 0) return 'claimed';
    const known = await rowOf(db, claim)
      .select(['request_hash as requestHash', 'sealed_response as sealedAnswer'])
      // No request runs for minutes, so an older claim without a response belongs to a process that died.
      .select(
        sql<boolean>`response_status is not null or created_at < now() - interval '10 minutes'`.as('ended'),
      )
      .executeTakeFirst();
    if (known !== undefined) return known;
  }
  return 'unsettled';
}

export async function storeAnswer(
  db: Kysely<Database>,
  claim: Claim,
  response_status: number,
  sealed_response: Buffer,
): Promise<void> {
  await changeRow(db, claim, { response_status, sealed_response });
}

/** The request took effect, but its response is lost: it must not run again and cannot be replayed. */
export async function endWithoutAnswer(db: Kysely<Database>, claim: Claim): Promise<void> {
  await changeRow(db, claim, { response_status: 500 });
}

/** The request took no effect: a retry runs it. */
export async function releaseClaim(db: Kysely<Database>, claim: Claim): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('organization_id', '=', claim.organizationId)
    .where('caller_id', '=', claim.callerId)
    .where('key', '=', claim.key)
    .execute();
}

/** For all organizations, because one with expired responses may never call again. */
export async function forgetExpired(db: Kysely<Database>): Promise<void> {
  await sql`select remove_expired_idempotency_keys(${FORGOTTEN_AT_ONCE_MAX})`.execute(db);
}

function rowOf(db: Kysely<Database>, claim: Claim) {
  return db
    .selectFrom('idempotency_keys')
    .where('organization_id', '=', claim.organizationId)
    .where('caller_id', '=', claim.callerId)
    .where('key', '=', claim.key);
}

async function changeRow(
  db: Kysely<Database>,
  claim: Claim,
  change: { readonly response_status: number; readonly sealed_response?: Buffer },
): Promise<void> {
  await db
    .updateTable('idempotency_keys')
    .set(change)
    .where('organization_id', '=', claim.organizationId)
    .where('caller_id', '=', claim.callerId)
    .where('key', '=', claim.key)
    .execute();
}
