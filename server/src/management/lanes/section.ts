import { type ConfigLane, laneResource } from '@relay/contract';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { tables } from '../../store/postgres/schema.ts';
import { demandSlug } from '../resources/item-slug.ts';
import type { SectionOf } from '../resources/section.ts';

export const laneSection: SectionOf<ConfigLane, typeof tables.lanes> = {
  announced: laneResource.section,
  defaults: {
    default_max_wait_ms: 30_000,
    allow_fallback: true,
    hold_ms: 2_000,
    enabled: true,
    description: null,
    selection: 'soonest',
    priority: 'standard',
    hidden: false,
    shadows_model: false,
  },
  keyOf: ({ slug }) => slug,
  entryOf: (row) => ({
    slug: row.slug,
    name: row.name,
    default_max_wait_ms: row.default_max_wait_ms,
    allow_fallback: row.allow_fallback,
    hold_ms: row.hold_ms,
    enabled: row.enabled,
    description: row.description === '' ? null : row.description,
    selection: row.selection,
    priority: row.priority,
    hidden: row.hidden,
    shadows_model: row.shadows_model,
  }),
  checked(entry) {
    demandStorable(entry);
    demandSlug(entry.slug);
    return { ...entry, description: entry.description === '' ? null : entry.description };
  },
  columnsOf: (entry) => ({ ...entry, description: entry.description ?? '' }),
};
