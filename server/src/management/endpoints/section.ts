import { type ConfigEndpoint, endpointResource } from '@relay/contract';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { tables } from '../../store/postgres/schema.ts';
import { demandSlug } from '../resources/item-slug.ts';
import type { Reference, SectionOf } from '../resources/section.ts';
import { INTEGER_MAX } from './wire.ts';

export const endpointSection: SectionOf<ConfigEndpoint, typeof tables.endpoints> = {
  announced: endpointResource.section,
  defaults: {
    credential: null,
    protocol: 'openai',
    supports_streaming: true,
    pacing: true,
    max_concurrency: null,
    context_window: null,
    max_latency_ms: 600_000,
    enabled: true,
  },
  keyOf: ({ slug }) => slug,
  referencesOf({ provider, credential }) {
    const references: Reference[] = [{ field: 'provider', section: 'providers', key: provider }];
    if (credential !== null)
      references.push({ field: 'credential', section: 'credentials', key: `${provider}/${credential}` });
    return references;
  },
  entryOf: (row, keyOf) => ({
    slug: row.slug,
    provider: keyOf('providers', row.provider_id),
    credential: row.credential_id === null ? null : nameIn(keyOf('credentials', row.credential_id)),
    name: row.name,
    upstream_model: row.upstream_model,
    route_kind: row.route_kind,
    protocol: row.protocol,
    supports_streaming: row.supports_streaming,
    pacing: row.pacing,
    max_concurrency: row.max_concurrency,
    context_window: row.context_window,
    max_latency_ms: row.max_latency_ms,
    enabled: row.enabled,
  }),
  checked(entry) {
    demandStorable(entry, INTEGER_MAX);
    demandSlug(entry.slug);
    return entry;
  },
  columnsOf({ provider, credential, ...settings }, idOf) {
    const credentialKey = `${provider}/${credential}`;
    return {
      ...settings,
      provider_id: idOf('providers', provider),
      credential_id: credential === null ? null : idOf('credentials', credentialKey),
    };
  },
};

/** A slug has no slash, so what follows the first one is the credential's name. */
function nameIn(credentialKey: string): string {
  return credentialKey.slice(credentialKey.indexOf('/') + 1);
}
