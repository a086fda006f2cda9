import { type ConfigProvider, providerResource } from '@relay/contract';
import { demandStorable } from '../../domain/storable-fields.ts';
import { presetSettings } from '../../protocols/provider-presets.ts';
import type { tables } from '../../store/postgres/schema.ts';
import { demandSlug } from '../resources/item-slug.ts';
import type { SectionOf } from '../resources/section.ts';
import { checkedConnection, demandKnownPreset } from './connection.ts';
import { MAX_LATENCY_MS_DEFAULT, toColumns } from './wire.ts';

export const providerSection: SectionOf<ConfigProvider, typeof tables.providers> = {
  announced: providerResource.section,
  defaults: {
    auth_mode: 'bearer_static',
    auth_header_name: null,
    aws_region: null,
    aws_service: null,
    max_latency_ms: MAX_LATENCY_MS_DEFAULT,
    preset_slug: null,
    extra_headers: null,
    extra_query: null,
    health_probe: 'off',
    enabled: true,
  },
  defaultsOf: ({ preset_slug }) => presetSettings(preset_slug),
  keyOf: ({ slug }) => slug,
  entryOf: (row) => ({
    slug: row.slug,
    name: row.name,
    base_url: row.base_url,
    auth_mode: row.auth_mode,
    enabled: row.enabled,
    auth_header_name: row.auth_header_name,
    aws_region: row.aws_region,
    aws_service: row.aws_service,
    max_latency_ms: row.max_latency_ms ?? MAX_LATENCY_MS_DEFAULT,
    preset_slug: row.preset_slug,
    extra_headers: row.extra_headers,
    extra_query: row.extra_query,
    health_probe: row.health_probe,
  }),
  checked(entry, { egress }) {
    demandStorable(entry);
    demandSlug(entry.slug);
    demandKnownPreset(entry.preset_slug);
    return { ...entry, ...checkedConnection(egress, entry) };
  },
  columnsOf: toColumns,
};
