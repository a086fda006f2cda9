import { type ConfigMembership, membershipResource } from '@relay/contract';
import type { tables } from '../../store/postgres/schema.ts';
import type { SectionOf } from '../resources/section.ts';

export const membershipSection: SectionOf<ConfigMembership, typeof tables.lane_memberships> = {
  announced: membershipResource.section,
  defaults: { enabled: true },
  keyOf: ({ lane, endpoint }) => `${lane}/${endpoint}`,
  referencesOf: ({ lane, endpoint }) => [
    { field: 'lane', section: 'lanes', key: lane },
    { field: 'endpoint', section: 'endpoints', key: endpoint },
  ],
  entryOf: (row, keyOf) => ({
    lane: keyOf('lanes', row.lane_id),
    endpoint: keyOf('endpoints', row.endpoint_id),
    manual_rank: row.manual_rank,
    enabled: row.enabled,
  }),
  checked: (entry) => entry,
  columnsOf: ({ lane, endpoint, ...settings }, idOf) => ({
    ...settings,
    lane_id: idOf('lanes', lane),
    endpoint_id: idOf('endpoints', endpoint),
  }),
};
