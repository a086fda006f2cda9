import type { ApiKey } from '@relay/contract';
import { type Api, take } from '../../api/client.ts';
import { createKey, type NewKey } from './create-key.ts';

/** Creates a key with the scopes, team, labels and limits of the old one. Reads the limits again, because cached ones may be stale. */
export async function rotateKey(api: Api, old: ApiKey): Promise<NewKey> {
  const { policies } = await take(api.GET('/api/relay/api-key-limit-policies'));
  const limits = policies
    .filter(({ api_key_uuid: id }) => id === old.id)
    // All but what names the old limit: a field that is left out would loosen the new one.
    .map(({ id: _id, limit_uuid: _uuid, api_key_uuid: _key, owner_user_uuid: _owner, ...terms }) => terms);
  const { name, scopes, expires_at, labels, team_id } = old;
  const team = team_id === null ? {} : { team_id };
  return createKey(api, { body: { name, scopes, expires_at, labels, ...team }, ownerId: null, limits });
}
