import type { ApiKey, ApiKeyCreate, ApiKeyLimitPolicyUpsert } from '@relay/contract';
import { type Api, take } from '../../api/client.ts';

/** A key that was just created. Its secret is shown once. */
export interface NewKey {
  readonly secret: string;
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
}

export type KeyLimit = Omit<ApiKeyLimitPolicyUpsert, 'api_key_uuid' | 'limit_uuid'>;

interface KeyPlan {
  readonly body: ApiKeyCreate;
  /** Null for the caller. */
  readonly ownerId: string | null;
  readonly limits: readonly KeyLimit[];
}

/** If a limit cannot be created, revokes the new key: a key must not exist without its limits. */
export async function createKey(api: Api, { body, ownerId, limits }: KeyPlan): Promise<NewKey> {
  const { api_key: secret, key } = await (ownerId === null
    ? take(api.POST('/api/account/api-keys', { body }))
    : take(api.POST('/api/org/api-keys', { body: { ...body, user_uuid: ownerId } })));
  try {
    for (const limit of limits)
      await api.POST('/api/relay/api-key-limit-policies', { body: { api_key_uuid: key.id, ...limit } });
  } catch (error) {
    await revokeKey(api, key, ownerId === null);
    throw error;
  }
  return { secret, id: key.id, name: key.name, scopes: key.scopes };
}

/** Members revoke their own keys; an administrator revokes any key of the organization. */
export async function revokeKey(api: Api, { id }: Pick<ApiKey, 'id'>, isOwn: boolean): Promise<void> {
  const params = { path: { api_key_id: id } };
  if (isOwn) await api.DELETE('/api/account/api-keys/{api_key_id}', { params });
  else await api.DELETE('/api/org/api-keys/{api_key_id}', { params });
}
