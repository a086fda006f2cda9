import { sql, type Transaction } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import { appendAudit } from '../../store/configuration/audit-log.ts';
import { changeAccess } from '../../store/configuration/config-version.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { IdentityDeps } from './deps.ts';
import { insertOrganization } from './join-organization.ts';
import { membershipsOf, type UserRow } from './people.ts';

/** Creates an organization. `owner` creates or locks its owner in the same transaction and returns their ID. */
export async function foundOrganization(
  deps: Pick<IdentityDeps, 'db' | 'newId'>,
  requestId: string,
  owner: (tx: Transaction<Database>) => Promise<string>,
  name: string,
): Promise<{ userId: string; organizationId: string }> {
  const organizationId = deps.newId();
  const { result: userId } = await changeAccess(deps.db, organizationId, async (tx) => {
    const ownerId = await owner(tx);
    await insertOrganization(tx, { id: organizationId, name, ownerId });
    await appendAudit(tx, {
      id: deps.newId(),
      organizationId,
      actor: { type: 'user', userId: ownerId },
      requestId,
      action: 'organization.create',
      targetType: 'organization',
      targetId: organizationId,
      after: { name, plan: 'free' },
    });
    return { result: ownerId, keyIds: [] };
  });
  return { userId, organizationId };
}

/** A user with an account, who may create an organization only while they have none: concurrent requests create one. */
export function ownerOf({ id }: Pick<UserRow, 'id'>): (tx: Transaction<Database>) => Promise<string> {
  return async (tx) => {
    await sql`select from users where id = ${id} for no key update`.execute(tx);
    if ((await membershipsOf(tx, id)).length === 0) return id;
    throw new RelayError('conflict', {
      message: 'You are an active member of an organization. Sign in without `organization_name`.',
      param: 'organization_name',
    });
  };
}
