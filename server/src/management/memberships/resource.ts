import { membershipResource } from '@relay/contract';
import { defineResource } from '../resources/resource.ts';
import { storedTable } from '../resources/rows.ts';
import { membershipHandlers } from './routes.ts';
import { membershipSection } from './section.ts';

export const resources = [
  defineResource({
    noun: membershipResource.section.noun,
    table: storedTable('lane_memberships'),
    parents: [
      { table: 'lanes', column: 'lane_id' },
      { table: 'endpoints', column: 'endpoint_id' },
    ],
    section: membershipSection,
    handlers: membershipHandlers,
  }),
];
