import type { components } from '@relay/contract/api-types';
import { type Api, dataOf } from '../api/client.ts';
import { exitCodes, ProgramError } from '../kit/program-error.ts';

type ApiKey = components['schemas']['ApiKey'];
type Created = components['schemas']['ApiKeyCreated'];

export interface Rotated {
  readonly created: Created;
  readonly budgets: number;
}

/** Copies the limits before revoking the old key, so that a failure always leaves a working key. */
export async function rotateKey(
  api: Api,
  old: ApiKey,
  { revokeOld }: { revokeOld: boolean },
): Promise<Rotated> {
  if (old.status !== 'active') {
    throw new ProgramError(`Key ${old.name} is ${old.status}.`, exitCodes.error, {
      fix: 'Run: `relay keys create --name NAME`',
    });
  }
  const budgets = (await dataOf(api.management.GET('/api/relay/api-key-limit-policies'))).policies.filter(
    ({ api_key_uuid }) => api_key_uuid === old.id,
  );
  const created = await dataOf(
    api.management.POST('/api/account/api-keys', {
      body: {
        name: old.name,
        scopes: old.scopes,
        expires_at: old.expires_at,
        labels: old.labels,
        ...(old.team_id !== null && { team_id: old.team_id }),
      },
    }),
  );
  for (const budget of budgets) {
    // All but what names the old limit: a field that is left out would loosen the new one.
    const { id: _id, limit_uuid: _uuid, api_key_uuid: _key, owner_user_uuid: _owner, ...terms } = budget;
    await api.management.POST('/api/relay/api-key-limit-policies', {
      body: { api_key_uuid: created.key.id, ...terms },
    });
  }
  if (revokeOld) {
    await api.management.DELETE('/api/account/api-keys/{api_key_id}', {
      params: { path: { api_key_id: old.id } },
    });
  }
  return { created, budgets: budgets.length };
}
