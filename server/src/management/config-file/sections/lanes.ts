import { ConfigLane } from '@relay/contract';
import { demandStorable } from '../../storable-body.ts';
import { demandSlug } from '../item-slug.ts';
import { defineSection } from './section.ts';

export const laneSection = defineSection<ConfigLane, 'lanes'>({
  name: 'lanes',
  kind: 'lane',
  table: 'lanes',
  schema: ConfigLane,
  defaults: {
    default_max_wait_ms: 30_000,
    allow_fallback: true,
    enabled: true,
    description: null,
    selection: 'preferred',
    hidden: false,
  },
  keyOf: ({ slug }) => slug,
  entryOf: (row) => ({
    slug: row.slug,
    name: row.name,
    default_max_wait_ms: row.default_max_wait_ms,
    allow_fallback: row.allow_fallback,
    enabled: row.enabled,
    description: row.description === '' ? null : row.description,
    selection: row.selection,
    hidden: row.hidden,
  }),
  checked(entry) {
    demandStorable(entry);
    demandSlug(entry.slug);
    return { ...entry, description: entry.description === '' ? null : entry.description };
  },
  columnsOf: (entry) => ({ ...entry, description: entry.description ?? '' }),
});
