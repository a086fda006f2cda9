import { MembershipUpdate, membershipResource } from '@relay/contract';
import { defineResource } from '../resources/resource.ts';
import { storedTable } from '../resources/rows.ts';
import { membershipHandlers } from './routes.ts';
import { membershipSection } from './section.ts';
import { toMembership } from './wire.ts';

export const resources = [
  defineResource({
    noun: membershipResource.section.noun,
    table: storedTable('lane_memberships'),
    parents: [
      { table: 'lanes', column: 'lane_id', governs: 'lane' },
      { table: 'endpoints', column: 'endpoint_id' },
    ],
    change: { body: MembershipUpdate, wire: (_deps, _db, row) => toMembership(row) },
    section: membershipSection,
    handlers: membershipHandlers,
  }),
];
