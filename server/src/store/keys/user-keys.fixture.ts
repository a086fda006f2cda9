import { createSecretKey, randomBytes, randomUUIDv7 } from 'node:crypto';
import type { Scope } from '@relay/contract';
import type { Kysely } from 'kysely';
import { digestOfKey, mintApiKey } from '../../domain/api-key.ts';
import { changeAccess } from '../configuration/config-version.ts';
import type { Database } from '../postgres/schema.ts';

/** For tests: the secret that the digests of seeded keys are made with. */
export const pepper = createSecretKey(Buffer.alloc(32, 7));

export interface SeededKey {
  readonly id: string;
  readonly publicId: string;
  /** The complete key, as its owner sends it. */
  readonly key: string;
}

/** For tests: a key of the member, as management stores it. */
export async function seedKey(
  db: Kysely<Database>,
  owner: { readonly organizationId: string; readonly userId: string },
  over: { readonly scopes?: readonly Scope[]; readonly expiresAt?: Date } = {},
): Promise<SeededKey> {
  const { key, publicId } = mintApiKey(randomBytes);
  const id = randomUUIDv7();
  await db
    .insertInto('api_keys')
    .values({
      organization_id: owner.organizationId,
      id,
      user_id: owner.userId,
      name: 'seeded',
      public_id: publicId,
      secret_hmac: digestOfKey(pepper, key),
      scopes: [...(over.scopes ?? ['relay:request'])],
      expires_at: over.expiresAt ?? null,
    })
    .execute();
  return { id, publicId, key };
}

/** For tests: commits a revocation and returns its version. */
export async function revokeKey(
  db: Kysely<Database>,
  organizationId: string,
  keyId: string,
): Promise<number> {
  const { version } = await changeAccess(db, organizationId, async (tx) => {
    await tx
      .updateTable('api_keys')
      .set({ revoked_at: new Date() })
      .where('organization_id', '=', organizationId)
      .where('id', '=', keyId)
      .execute();
    return { result: undefined, keyIds: [keyId] };
  });
  return version;
}

/** For tests: a second member. */
export async function seedMember(
  db: Kysely<Database>,
  organizationId: string,
  role: 'admin' | 'developer' | 'viewer' = 'developer',
): Promise<string> {
  const userId = randomUUIDv7();
  await db
    .insertInto('users')
    .values({ id: userId, name: 'Bo', email: `${userId}@example.com` })
    .execute();
  await changeAccess(db, organizationId, async (tx) => {
    await tx
      .insertInto('organization_members')
      .values({ organization_id: organizationId, user_id: userId, role })
      .execute();
    return { result: undefined, keyIds: [] };
  });
  return userId;
}
