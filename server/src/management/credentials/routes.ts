import type { Handlers } from '../../http/call.ts';
import type { Sealer } from '../../kit/seal.ts';
import { secretBinding } from '../../store/secret-binding.ts';
import type { ManagementDeps } from '../deps.ts';
import type { Row } from '../owned-rows.ts';
import { listRows } from '../paging.ts';
import { providerRows } from '../providers/queries.ts';
import { heldReference } from '../reference.ts';
import { conflict, invalidField, listNames } from '../refusals.ts';
import { demandStorable } from '../storable-body.ts';
import { resourceWrites } from '../write-resource.ts';
import { credentialRows, endpointNamesWith } from './queries.ts';
import { toCredential } from './wire.ts';

const FIRST_SECRET_VERSION = 1;

export function credentialHandlers(deps: ManagementDeps): Handlers {
  const writes = resourceWrites(deps, credentialRows, 'credential');

  return {
    async listCredentials(call) {
      return (await listRows(deps, call, 'listCredentials', credentialRows)).map(toCredential);
    },
    async createCredential(call) {
      const { body, caller } = call;
      demandStorable({ name: body.name });
      demandSendable(body.secret);
      const row = await writes.create(call, async (tx, id) => {
        const provider = await heldReference(tx, providerRows, caller.organizationId, {
          param: 'provider_id',
          kind: 'provider',
          id: body.provider_id,
        });
        const place = {
          organizationId: caller.organizationId,
          ownerId: provider.id,
          secretVersion: FIRST_SECRET_VERSION,
        };
        const inserted = await credentialRows.insert(tx, caller.organizationId, {
          id,
          provider_id: provider.id,
          name: body.name,
          enabled: body.enabled,
          ...sealed(deps.sealer, place, body.secret),
        });
        if (inserted === undefined)
          throw conflict(null, 'A credential with this id exists. Send the request again.');
        return inserted;
      });
      return toCredential(row);
    },
    async updateCredential(call) {
      const { body } = call;
      demandStorable({ name: body.name });
      if (body.secret !== undefined) demandSendable(body.secret);
      const row = await writes.update(call, call.params.credential_id, (_tx, before) => ({
        name: body.name,
        enabled: body.enabled,
        ...(body.secret === undefined ? {} : sealed(deps.sealer, nextPlace(before), body.secret)),
      }));
      return toCredential(row);
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

type Place = Parameters<typeof secretBinding>[0];

/** Each secret of a credential has its own version, so that an older one put back does not open. */
function nextPlace(before: Row<'credentials'>): Place {
  return {
    organizationId: before.organization_id,
    ownerId: before.provider_id,
    secretVersion: before.secret_version + 1,
  };
}

function sealed(sealer: Sealer, place: Place, secret: string) {
  return {
    sealed_secret: sealer.seal(secret, secretBinding(place)),
    key_id: sealer.keyId,
    secret_version: place.secretVersion,
  };
}

/** It goes into a header. A line break pasted along with a key is the usual fault, and hard to see later. */
function demandSendable(secret: string): void {
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(secret)) return;
  throw invalidField(
    'secret',
    'secret must be printable ASCII without line breaks and without spaces at its ends. Copy the key again.',
  );
}
