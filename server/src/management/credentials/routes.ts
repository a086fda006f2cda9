import type { RelayError } from '../../domain/relay-error.ts';
import type { Handlers } from '../../http/call.ts';
import { isUniqueViolation } from '../../store/store-error.ts';
import type { ManagementDeps } from '../deps.ts';
import { listRows } from '../paging.ts';
import { providerRows } from '../providers/queries.ts';
import { heldReference } from '../reference.ts';
import { conflict, listNames } from '../refusals.ts';
import { demandStorable } from '../storable-body.ts';
import { resourceWrites } from '../write-resource.ts';
import { credentialRows, endpointNamesWith } from './queries.ts';
import { demandSendable, firstPlace, nextPlace, sealedSecret } from './sealed-secret.ts';
import { toCredential } from './wire.ts';

export function credentialHandlers(deps: ManagementDeps): Handlers {
  const writes = resourceWrites(deps, credentialRows, 'credential');

  return {
    async listCredentials(call) {
      return (await listRows(deps, call, 'listCredentials', credentialRows)).map(toCredential);
    },
    async createCredential(call) {
      const { body, caller } = call;
      demandStorable({ name: body.name });
      demandSendable('secret', body.secret);
      const row = await writes.create(call, async (tx, id) => {
        const provider = await heldReference(tx, providerRows, caller.organizationId, {
          param: 'provider_id',
          kind: 'provider',
          id: body.provider_id,
        });
        const place = firstPlace(caller.organizationId, provider.id);
        const inserted = await credentialRows.insert(tx, caller.organizationId, {
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
      if (body.secret !== undefined) demandSendable('secret', body.secret);
      const updated = writes.update(call, call.params.credential_id, (_tx, before) => ({
        name: body.name,
        enabled: body.enabled,
        ...(body.secret === undefined ? {} : sealedSecret(deps.sealer, nextPlace(before), body.secret)),
      }));
      return toCredential(
        await updated.catch((error: unknown) => {
          throw isUniqueViolation(error) && body.name !== undefined ? nameTaken(body.name) : error;
        }),
      );
    },
    deleteCredential: (call) =>
      writes.remove(call, call.params.credential_id, async (tx, before) => {
        const names = await endpointNamesWith(tx, before.organization_id, before.id);
        if (names.length === 0) return;
        throw conflict(
          'credential_id',
          `The credential is named by ${names.length === 1 ? 'endpoint' : 'endpoints'} ${listNames(names)}. Give those another credential_id, or null, first.`,
        );
      }),
  };
}

function nameTaken(name: string): RelayError {
  return conflict(
    'name',
    `The provider has a credential named "${name}" already. Change that one, or use another name.`,
  );
}
