import { type ConfigProvider, providerResource } from '@relay/contract';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { tables } from '../../store/postgres/schema.ts';
import { demandSlug } from '../resources/item-slug.ts';
import type { SectionOf } from '../resources/section.ts';
import { checkedBaseUrl, demandAuthHeader } from '../resources/upstream-address.ts';
import { MAX_LATENCY_MS_DEFAULT } from './wire.ts';

export const providerSection: SectionOf<ConfigProvider, typeof tables.providers> = {
  announced: providerResource.section,
  defaults: {
    auth_mode: 'bearer_static',
    auth_header_name: null,
    max_latency_ms: MAX_LATENCY_MS_DEFAULT,
    preset_slug: null,
    health_probe: 'off',
    enabled: true,
  },
  keyOf: ({ slug }) => slug,
  entryOf: (row) => ({
    slug: row.slug,
    name: row.name,
    base_url: row.base_url,
    auth_mode: row.auth_mode,
    enabled: row.enabled,
    auth_header_name: row.auth_header_name,
    max_latency_ms: row.max_latency_ms ?? MAX_LATENCY_MS_DEFAULT,
    preset_slug: row.preset_slug,
    health_probe: row.health_probe,
  }),
  checked(entry, { egress }) {
    demandStorable(entry);
    demandSlug(entry.slug);
    demandAuthHeader(entry.auth_mode, entry.auth_header_name);
    return {
      ...entry,
      base_url: checkedBaseUrl(egress, entry.base_url),
      preset_slug: entry.preset_slug === '' ? null : entry.preset_slug,
    };
  },
  columnsOf: (entry) => ({ ...entry }),
};
