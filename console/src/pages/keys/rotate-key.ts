import type { ApiKey } from '@relay/contract';
import { type Api, take } from '../../api/client.ts';

/**
 * Creates a key with the scopes and limits of the old one. Reads the limits again, because cached ones may be
 * stale. If a limit cannot be copied, revokes the new key: a key must not exist without its limits.
 */
export async function rotateKey(api: Api, old: ApiKey): Promise<string> {
  const { policies } = await take(api.GET('/api/relay/api-key-limit-policies'));
  const budgets = policies.filter(({ api_key_uuid: id }) => id === old.id);
  const { name, scopes, expires_at } = old;
  const created = await take(api.POST('/api/account/api-keys', { body: { name, scopes, expires_at } }));
  try {
    for (const { target_type, target_id, metric, period, limit_value, enabled } of budgets) {
      const budget = { target_type, target_id, metric, period, limit_value, enabled };
      await api.POST('/api/relay/api-key-limit-policies', {
        body: { api_key_uuid: created.key.id, ...budget },
      });
    }
  } catch (error) {
    const params = { path: { api_key_id: created.key.id } };
    await api.DELETE('/api/account/api-keys/{api_key_id}', { params });
    throw error;
  }
  return created.api_key;
}
