import Type, { type Static } from 'typebox';
import { slugOf, without } from '../config-item.ts';
import type { ResourceDefinition } from '../resource-definition.ts';
import { changeErrors, createErrors, noContent } from '../route-definition.ts';
import { changeOf, closed, flag, Id, integer, optional, PageQuery, params } from '../schema.ts';
import { ManagedBy } from './values.ts';

export const Rank = integer({ maximum: 1_000_000, description: 'Lower numbers are preferred.' });

export const Membership = closed('Membership', {
  id: Id,
  lane_id: Id,
  endpoint_id: Id,
  manual_rank: Rank,
  enabled: flag(),
  managed_by: optional(ManagedBy),
});
export type Membership = Static<typeof Membership>;

export const MembershipCreate = closed('MembershipCreate', {
  lane_id: Id,
  endpoint_id: Id,
  manual_rank: Rank,
  enabled: optional(flag({ default: true })),
});
export type MembershipCreate = Static<typeof MembershipCreate>;

export const MembershipUpdate = changeOf('MembershipUpdate', Membership, {
  manual_rank: Rank,
  enabled: flag(),
});
export type MembershipUpdate = Static<typeof MembershipUpdate>;

export const ConfigMembership = closed('ConfigMembership', {
  lane: slugOf('the lane'),
  endpoint: slugOf('the endpoint'),
  ...without(MembershipCreate.properties, 'lane_id', 'endpoint_id'),
});
export type ConfigMembership = Static<typeof ConfigMembership>;

const shared = { plane: 'management', tag: 'Lane memberships' } as const;
const read = { scope: 'relay:routing:read' } as const;
const manage = { scope: 'relay:routing:manage' } as const;

export const membershipResource = {
  order: 50,
  routes: {
    listMemberships: {
      ...shared,
      method: 'GET',
      path: '/api/relay/lane-memberships',
      access: read,
      summary: 'List lane memberships',
      query: PageQuery,
      success: { status: 200, schema: Type.Array(Membership) },
    },
    createMembership: {
      ...shared,
      method: 'POST',
      path: '/api/relay/lane-memberships',
      access: manage,
      summary: 'Add an endpoint to a lane',
      body: MembershipCreate,
      success: { status: 201, schema: Membership },
      errors: [...createErrors, 'managed_by_file'],
    },
    getMembership: {
      ...shared,
      method: 'GET',
      path: '/api/relay/lane-memberships/{membership_id}',
      access: read,
      summary: 'Read a lane membership',
      params: params('membership_id'),
      success: { status: 200, schema: Membership },
    },
    updateMembership: {
      ...shared,
      method: 'PUT',
      path: '/api/relay/lane-memberships/{membership_id}',
      access: manage,
      summary: 'Change the rank of a membership, or enable or disable it',
      params: params('membership_id'),
      body: MembershipUpdate,
      success: { status: 200, schema: Membership },
      errors: changeErrors,
    },
    deleteMembership: {
      ...shared,
      method: 'DELETE',
      path: '/api/relay/lane-memberships/{membership_id}',
      access: manage,
      summary: 'Remove an endpoint from a lane',
      params: params('membership_id'),
      success: noContent,
      errors: changeErrors,
    },
  },
  section: {
    name: 'memberships',
    noun: 'lane_membership',
    item: ConfigMembership,
    scopes: { read: read.scope, manage: manage.scope },
  },
} as const satisfies ResourceDefinition;
