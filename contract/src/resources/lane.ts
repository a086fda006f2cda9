import Type, { type Static } from 'typebox';
import { ItemSlug } from '../config-item.ts';
import type { ResourceDefinition } from '../resource-definition.ts';
import { changeErrors, createErrors, noContent } from '../route-definition.ts';
import {
  changeOf,
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
import { Rank } from './membership.ts';
import { ManagedBy, TakesOver, TakesOverQuery } from './values.ts';

const WaitMs = integer({ maximum: 3_600_000, default: 30_000, description: 'The wait budget.' });
const Selection = oneOf(['preferred', 'soonest'], {
  default: 'soonest',
  description:
    '`soonest` selects the highest-ranked candidate that is free now, or else the one that becomes free first. `preferred` waits for the highest-ranked candidate that becomes free within the wait budget.',
});
const Priority = oneOf(['interactive', 'standard', 'batch'], {
  default: 'standard',
  description:
    'Which waiting requests go first when a limit is reached: `interactive` before `standard` before `batch`. Lower priorities keep at least 10% of the capacity.',
});
const Description = nullable(text());
const HoldMs = integer({
  maximum: 60_000,
  default: 2_000,
  description:
    'How long a stream whose provider has responded is held without content, so that Relay can still fall back. The hold ends early at the first content or keep-alive, and there is none when no other endpoint is left. `0` never holds.',
});
const Hidden = flag({ default: false, description: 'Whether the model list omits the lane.' });
const ShadowsModel = flag({
  default: false,
  description:
    'Allow the lane to have the name of a model that an endpoint serves: requests that name the model then go to the lane. Unlike `takes_over`, it is stored, so a configuration file can have it.',
});

export const Lane = closed('Lane', {
  id: Id,
  name: Type.String(),
  slug: Slug,
  description: Description,
  default_max_wait_ms: WaitMs,
  allow_fallback: flag(),
  hold_ms: HoldMs,
  selection: Selection,
  priority: Priority,
  hidden: Hidden,
  shadows_model: ShadowsModel,
  enabled: flag(),
  managed_by: optional(ManagedBy),
});
export type Lane = Static<typeof Lane>;

/** One endpoint of a lane; `id` is that of its membership. */
export const LaneMember = closed('LaneMember', {
  id: Id,
  endpoint_id: Id,
  manual_rank: Rank,
  enabled: flag(),
  managed_by: optional(ManagedBy),
});
export type LaneMember = Static<typeof LaneMember>;

/** A lane with its members, in rank order. Lists have lanes without them. */
export const LaneDetail = closed('LaneDetail', { ...Lane.properties, members: Type.Array(LaneMember) });
export type LaneDetail = Static<typeof LaneDetail>;

const LANE_MEMBERS_MAX = 1000;

export const LaneMemberWrite = changeOf('LaneMemberWrite', LaneMember, {
  endpoint_id: Id,
  manual_rank: optional(
    integer({
      maximum: 1_000_000,
      description: 'If omitted, one more than the rank of the previous endpoint; 1 for the first.',
    }),
  ),
  enabled: optional(flag({ default: true })),
});
export type LaneMemberWrite = Static<typeof LaneMemberWrite>;

const Members = Type.Array(LaneMemberWrite, {
  maxItems: LANE_MEMBERS_MAX,
  description:
    'The complete list: endpoints that aren’t in it are removed from the lane. Endpoints that stay keep their membership IDs. If omitted, the endpoints don’t change.',
});

const extra = {
  description: optional(Description),
  hold_ms: optional(HoldMs),
  selection: optional(Selection),
  priority: optional(Priority),
  hidden: optional(Hidden),
  shadows_model: optional(ShadowsModel),
};

const created = {
  name: Name,
  default_max_wait_ms: optional(WaitMs),
  allow_fallback: optional(flag({ default: true })),
  enabled: optional(flag({ default: true })),
  ...extra,
};

export const LaneCreate = closed('LaneCreate', {
  ...created,
  members: optional(Members),
  takes_over: TakesOver,
});
export type LaneCreate = Static<typeof LaneCreate>;

export const LaneUpdate = changeOf('LaneUpdate', LaneDetail, {
  name: Name,
  default_max_wait_ms: WaitMs,
  allow_fallback: flag(),
  enabled: flag(),
  ...extra,
  members: optional(Members),
  takes_over: TakesOver,
});
export type LaneUpdate = Static<typeof LaneUpdate>;

export const ConfigLane = closed('ConfigLane', { slug: optional(ItemSlug), ...created });
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
      success: { status: 201, schema: LaneDetail },
      errors: [...createErrors, 'name_taken'],
    },
    getLane: {
      ...shared,
      method: 'GET',
      path: '/api/relay/routing-lanes/{group_id}',
      access: read,
      summary: 'Read a routing lane with its endpoints',
      params: params('group_id'),
      success: { status: 200, schema: LaneDetail },
    },
    updateLane: {
      ...shared,
      method: 'PUT',
      path: '/api/relay/routing-lanes/{group_id}',
      access: manage,
      summary: 'Change a routing lane, and its endpoints if `members` is sent',
      params: params('group_id'),
      body: LaneUpdate,
      success: { status: 200, schema: LaneDetail },
      errors: [...changeErrors, 'name_taken'],
    },
    deleteLane: {
      ...shared,
      method: 'DELETE',
      path: '/api/relay/routing-lanes/{group_id}',
      access: manage,
      summary: 'Delete a routing lane',
      params: params('group_id'),
      query: TakesOverQuery,
      success: noContent,
      errors: [...changeErrors, 'name_taken'],
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
    summary: 'Manage lanes',
    description: 'Manage lanes: the model names that clients call',
  },
} as const satisfies ResourceDefinition;
