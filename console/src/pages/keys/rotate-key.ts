import type { ApiKey, ApiKeyLimitPolicy } from '@relay/contract';
import { type Api, take } from '../../api/client.ts';

/**
 * A new key that may do and spend what the old one may. Where a budget cannot be given to it the new key is revoked
 * again: one without its budgets must not be handed out.
 */
export async function rotateKey(
  api: Api,
  old: ApiKey,
  budgets: readonly ApiKeyLimitPolicy[],
): Promise<string> {
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
