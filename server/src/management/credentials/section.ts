import { type ConfigCredential, credentialResource } from '@relay/contract';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { tables } from '../../store/postgres/schema.ts';
import { firstPlace } from '../resources/sealed-secret.ts';
import { withSecretRefs } from '../resources/secret-refs.ts';
import type { SectionOf } from '../resources/section.ts';
import { placeOf } from './secret-place.ts';

/**
 * The secret is not a field of the item: an apply seals the secret that `secret_ref` points to separately.
 */
export const credentialSection: SectionOf<ConfigCredential, typeof tables.credentials> = {
  announced: credentialResource.section,
  defaults: { enabled: true },
  keyOf: ({ provider, name }) => `${provider}/${name}`,
  referencesOf: ({ provider }) => [{ field: 'provider', section: 'providers', key: provider }],
  entryOf: (row, keyOf) => ({
    provider: keyOf('providers', row.provider_id),
    name: row.name,
    enabled: row.enabled,
    secret_ref: row.secret_ref,
  }),
  checked(entry) {
    demandStorable(entry);
    return entry;
  },
  columnsOf: (entry, idOf) => ({
    provider_id: idOf('providers', entry.provider),
    name: entry.name,
    secret_ref: entry.secret_ref,
    enabled: entry.enabled,
  }),
  completed: withSecretRefs,
  secret: {
    firstPlace: (organizationId, _id, { provider }, idOf) =>
      firstPlace(organizationId, idOf('providers', provider)),
    storedIn: (row) => ({ sealed: row.sealed_secret, place: placeOf(row) }),
  },
};
