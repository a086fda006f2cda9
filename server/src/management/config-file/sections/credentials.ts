import { ConfigCredential } from '@relay/contract';
import { demandStorable } from '../../storable-body.ts';
import { withSecretRefs } from '../secret-refs.ts';
import { defineSection } from './section.ts';

/** The secret is no field of it: what an apply carries for `secret_ref` is sealed apart. */
export const credentialSection = defineSection<ConfigCredential, 'credentials'>({
  name: 'credentials',
  kind: 'credential',
  table: 'credentials',
  schema: ConfigCredential,
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
});
