import Type from 'typebox';
import { EndpointTestResult } from '../resources/connection-test.ts';
import { Endpoint, EndpointCreate, EndpointUpdate } from '../resources/endpoint.ts';
import {
  Lane,
  LaneCreate,
  LaneUpdate,
  Membership,
  MembershipCreate,
  MembershipUpdate,
} from '../resources/lane.ts';
import { RoutingExplain, RoutingExplanation } from '../resources/routing.ts';
import { noContent, type RouteTable } from '../route-definition.ts';
import { PageQuery, params } from '../schema.ts';

const endpoints = { plane: 'management', tag: 'Endpoints' } as const;
const lanes = { plane: 'management', tag: 'Routing lanes' } as const;
const memberships = { plane: 'management', tag: 'Lane memberships' } as const;

const createErrors = ['conflict', 'idempotency_conflict'] as const;
const changeErrors = ['conflict', 'managed_by_file', 'version_conflict'] as const;

export const routingRoutes = {
  listEndpoints: {
    ...endpoints,
    method: 'GET',
    path: '/api/relay/endpoints',
    summary: 'List model endpoints',
    query: PageQuery,
    success: { status: 200, schema: Type.Array(Endpoint) },
  },
  createEndpoint: {
    ...endpoints,
    method: 'POST',
    path: '/api/relay/endpoints',
    summary: 'Create a model endpoint',
    body: EndpointCreate,
    success: { status: 201, schema: Endpoint },
    errors: createErrors,
  },
  getEndpoint: {
    ...endpoints,
    method: 'GET',
    path: '/api/relay/endpoints/{endpoint_id}',
    summary: 'Read a model endpoint',
    params: params('endpoint_id'),
    success: { status: 200, schema: Endpoint },
  },
  updateEndpoint: {
    ...endpoints,
    method: 'PUT',
    path: '/api/relay/endpoints/{endpoint_id}',
    summary: 'Change a model endpoint',
    params: params('endpoint_id'),
    body: EndpointUpdate,
    success: { status: 200, schema: Endpoint },
    errors: changeErrors,
  },
  deleteEndpoint: {
    ...endpoints,
    method: 'DELETE',
    path: '/api/relay/endpoints/{endpoint_id}',
    summary: 'Delete a model endpoint',
    params: params('endpoint_id'),
    success: noContent,
    errors: changeErrors,
  },
  testEndpoint: {
    ...endpoints,
    method: 'POST',
    path: '/api/relay/endpoints/{endpoint_id}/test',
    summary:
      'Send the upstream model one minimal request, which the provider may bill, and say where it stops',
    params: params('endpoint_id'),
    success: { status: 200, schema: EndpointTestResult },
    errors: ['queue_full'],
  },
  listLanes: {
    ...lanes,
    method: 'GET',
    path: '/api/relay/routing-lanes',
    summary: 'List routing lanes',
    query: PageQuery,
    success: { status: 200, schema: Type.Array(Lane) },
  },
  createLane: {
    ...lanes,
    method: 'POST',
    path: '/api/relay/routing-lanes',
    summary: 'Create a routing lane',
    body: LaneCreate,
    success: { status: 201, schema: Lane },
    errors: createErrors,
  },
  updateLane: {
    ...lanes,
    method: 'PUT',
    path: '/api/relay/routing-lanes/{group_id}',
    summary: 'Change a routing lane',
    params: params('group_id'),
    body: LaneUpdate,
    success: { status: 200, schema: Lane },
    errors: changeErrors,
  },
  deleteLane: {
    ...lanes,
    method: 'DELETE',
    path: '/api/relay/routing-lanes/{group_id}',
    summary: 'Delete a routing lane',
    params: params('group_id'),
    success: noContent,
    errors: changeErrors,
  },
  listMemberships: {
    ...memberships,
    method: 'GET',
    path: '/api/relay/lane-memberships',
    summary: 'List lane memberships',
    query: PageQuery,
    success: { status: 200, schema: Type.Array(Membership) },
  },
  createMembership: {
    ...memberships,
    method: 'POST',
    path: '/api/relay/lane-memberships',
    summary: 'Put an endpoint into a lane',
    body: MembershipCreate,
    success: { status: 201, schema: Membership },
    errors: createErrors,
  },
  updateMembership: {
    ...memberships,
    method: 'PUT',
    path: '/api/relay/lane-memberships/{membership_id}',
    summary: 'Change the rank of a membership, or enable or disable it',
    params: params('membership_id'),
    body: MembershipUpdate,
    success: { status: 200, schema: Membership },
    errors: changeErrors,
  },
  deleteMembership: {
    ...memberships,
    method: 'DELETE',
    path: '/api/relay/lane-memberships/{membership_id}',
    summary: 'Take an endpoint out of a lane',
    params: params('membership_id'),
    success: noContent,
    errors: changeErrors,
  },
  explainRouting: {
    ...lanes,
    method: 'POST',
    path: '/api/relay/routing/explain',
    summary: 'Say what would happen to an inference body now, without sending it',
    body: RoutingExplain,
    success: { status: 200, schema: RoutingExplanation },
    errors: ['policy_unavailable'],
  },
} as const satisfies RouteTable;
