import type { ApiKey } from '@relay/contract';
import { type Api, take } from '../../api/client.ts';

/** A key that was just created. Its secret is shown once. */
export interface NewKey {
  readonly secret: string;
  readonly id: string;
}

/**
 * Creates a key with the scopes, team, labels and limits of the old one. Reads the limits again, because cached ones may be
 * stale. If a limit cannot be copied, revokes the new key: a key must not exist without its limits.
 */
export async function rotateKey(api: Api, old: ApiKey): Promise<NewKey> {
  const { policies } = await take(api.GET('/api/relay/api-key-limit-policies'));
  const budgets = policies.filter(({ api_key_uuid: id }) => id === old.id);
  const { name, scopes, expires_at, labels, team_id } = old;
  const team = team_id === null ? {} : { team_id };
  const body = { name, scopes, expires_at, labels, ...team };
  const created = await take(api.POST('/api/account/api-keys', { body }));
  try {
    for (const budget of budgets) {
      // All but what names the old limit: a field that is left out would loosen the new one.
      const { id: _id, limit_uuid: _uuid, api_key_uuid: _key, owner_user_uuid: _owner, ...terms } = budget;
      await api.POST('/api/relay/api-key-limit-policies', {
        body: { api_key_uuid: created.key.id, ...terms },
      });
    }
  } catch (error) {
    const params = { path: { api_key_id: created.key.id } };
    await api.DELETE('/api/account/api-keys/{api_key_id}', { params });
    throw error;
  }
  return { secret: created.api_key, id: created.key.id };
}
