import type { ApiKey } from '@relay/contract';
import { type Api, take } from '../../api/client.ts';

/**
 * A new key that may do and spend what the old one may. Its budgets are read now, since what a page has read may be old or
 * not there yet. Where one cannot be given to the new key, that is revoked again: a key without its budgets must not be
 * handed out.
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
