import type { RelayError } from '../../domain/relay-error.ts';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { Handlers } from '../../http/call.ts';
import type { tables } from '../../store/postgres/schema.ts';
import { isUniqueViolation } from '../../store/store-error.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { heldReference } from '../resources/reference.ts';
import { conflict, listNames } from '../resources/refusals.ts';
import { demandUsable, firstPlace, nextPlace, sealedSecret } from '../resources/sealed-secret.ts';
import type { ResourceWrites } from '../resources/write-resource.ts';
import { endpointNamesWith } from './queries.ts';
import { placeOf } from './secret-place.ts';
import { toCredential } from './wire.ts';

export function credentialHandlers(
  deps: ManagementDeps,
  writes: ResourceWrites<typeof tables.credentials>,
): Handlers {
  return {
    async listCredentials(call) {
      return (await writes.list(call, 'listCredentials')).map(toCredential);
    },
    async createCredential(call) {
      const { body } = call;
      demandStorable({ name: body.name });
      const row = await writes.create(call, async ({ tx, organizationId }, id) => {
        const provider = await heldReference(tx, 'providers', organizationId, {
          param: 'provider_id',
          kind: 'provider',
          id: body.provider_id,
        });
        demandUsable('secret', body.secret, provider.auth_mode);
        const place = firstPlace(organizationId, provider.id);
        const inserted = await writes.rows.insert(tx, organizationId, {
          id,
          provider_id: provider.id,
          name: body.name,
          enabled: body.enabled,
          ...sealedSecret(deps.sealer, place, body.secret),
        });
        if (inserted === undefined) throw nameTaken(body.name);
        return inserted;
      });
      return toCredential(row);
    },
    async updateCredential(call) {
      const { body } = call;
      demandStorable({ name: body.name });
      const updated = writes.update(call, call.params.credential_id, async ({ tx }, before) => {
        if (body.secret === undefined) return { name: body.name, enabled: body.enabled };
        const named = { param: 'provider_id', kind: 'provider', id: before.provider_id };
        const provider = await heldReference(tx, 'providers', before.organization_id, named);
        demandUsable('secret', body.secret, provider.auth_mode);
        return {
          name: body.name,
          enabled: body.enabled,
          ...sealedSecret(deps.sealer, nextPlace(placeOf(before)), body.secret),
        };
      });
      return toCredential(
        await updated.catch((error: unknown) => {
          throw isUniqueViolation(error) && body.name !== undefined ? nameTaken(body.name) : error;
        }),
      );
    },
    deleteCredential: (call) =>
      writes.remove(call, call.params.credential_id, async ({ tx }, before) => {
        const names = await endpointNamesWith(tx, before.organization_id, before.id);
        if (names.length === 0) return;
        throw conflict(
          'credential_id',
          `The credential is still used by ${names.length === 1 ? 'endpoint' : 'endpoints'} ${listNames(names)}. Change credential_id there first, or set it to null.`,
        );
      }),
  };
}

function nameTaken(name: string): RelayError {
  return conflict(
    'name',
    `The provider already has a credential named "${name}". Change that one, or use another name.`,
  );
}
