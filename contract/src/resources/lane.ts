import Type, { type Static } from 'typebox';
import { ItemSlug } from '../config-item.ts';
import type { ResourceDefinition } from '../resource-definition.ts';
import { changeErrors, createErrors, noContent } from '../route-definition.ts';
import {
  closed,
  flag,
  Id,
  integer,
  Name,
  nullable,
  oneOf,
  optional,
  PageQuery,
  params,
  Slug,
  text,
} from '../schema.ts';
import { ManagedBy } from './values.ts';

const WaitMs = integer({ maximum: 3_600_000, default: 30_000, description: 'The wait budget.' });
const Selection = oneOf(['preferred', 'soonest'], {
  default: 'soonest',
  description:
    '`soonest` takes the highest-ranked candidate that is free now, else the one that is free first; `preferred` waits for the highest-ranked candidate that fits the wait budget.',
});
const Description = nullable(text());
const Hidden = flag({ default: false, description: 'Whether the lane is left out of the model list.' });

export const Lane = closed('Lane', {
  id: Id,
  name: Type.String(),
  slug: Slug,
  description: Description,
  default_max_wait_ms: WaitMs,
  allow_fallback: flag(),
  selection: Selection,
  hidden: Hidden,
  enabled: flag(),
  managed_by: optional(ManagedBy),
});
export type Lane = Static<typeof Lane>;

const extra = {
  description: optional(Description),
  selection: optional(Selection),
  hidden: optional(Hidden),
};

export const LaneCreate = closed('LaneCreate', {
  name: Name,
  default_max_wait_ms: optional(WaitMs),
  allow_fallback: optional(flag({ default: true })),
  enabled: optional(flag({ default: true })),
  ...extra,
});
export type LaneCreate = Static<typeof LaneCreate>;

export const LaneUpdate = closed('LaneUpdate', {
  name: Name,
  default_max_wait_ms: WaitMs,
  allow_fallback: flag(),
  enabled: flag(),
  ...extra,
});
export type LaneUpdate = Static<typeof LaneUpdate>;

export const ConfigLane = closed('ConfigLane', { slug: optional(ItemSlug), ...LaneCreate.properties });
export type ConfigLane = Static<typeof ConfigLane>;

const shared = { plane: 'management', tag: 'Routing lanes' } as const;
const read = { scope: 'relay:routing:read' } as const;
const manage = { scope: 'relay:routing:manage' } as const;

export const laneResource = {
  order: 40,
  scopes: {
    'relay:routing:read': 'Read lanes, memberships and endpoints, and explain how a request would be routed.',
    'relay:routing:manage': 'Create, change, test and delete lanes, memberships and endpoints.',
  },
  routes: {
    listLanes: {
      ...shared,
      method: 'GET',
      path: '/api/relay/routing-lanes',
      access: read,
      summary: 'List routing lanes',
      query: PageQuery,
      success: { status: 200, schema: Type.Array(Lane) },
    },
    createLane: {
      ...shared,
      method: 'POST',
      path: '/api/relay/routing-lanes',
      access: manage,
      summary: 'Create a routing lane',
      body: LaneCreate,
      success: { status: 201, schema: Lane },
      errors: createErrors,
    },
    updateLane: {
      ...shared,
      method: 'PUT',
      path: '/api/relay/routing-lanes/{group_id}',
      access: manage,
      summary: 'Change a routing lane',
      params: params('group_id'),
      body: LaneUpdate,
      success: { status: 200, schema: Lane },
      errors: changeErrors,
    },
    deleteLane: {
      ...shared,
      method: 'DELETE',
      path: '/api/relay/routing-lanes/{group_id}',
      access: manage,
      summary: 'Delete a routing lane',
      params: params('group_id'),
      success: noContent,
      errors: changeErrors,
    },
  },
  section: {
    name: 'lanes',
    noun: 'lane',
    item: ConfigLane,
    scopes: { read: read.scope, manage: manage.scope },
  },
  command: {
    singular: 'lane',
    plural: 'lanes',
    summary: 'what clients name as the model',
    description: 'Lanes: what clients name as the model, with its members in rank order.',
  },
} as const satisfies ResourceDefinition;
