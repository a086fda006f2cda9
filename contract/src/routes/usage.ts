import Type from 'typebox';
import { Live } from '../resources/live.ts';
import {
  RequestDetail,
  RequestExportQuery,
  RequestLogPage,
  RequestLogQuery,
  RequestTailQuery,
} from '../resources/request-log.ts';
import {
  MeteredUsage,
  MeteredUsageQuery,
  Showback,
  ShowbackExportQuery,
  ShowbackQuery,
  StatsSummary,
  Timeseries,
  TimeseriesQuery,
  WaitDistribution,
  WaitDistributionQuery,
} from '../resources/stats.ts';
import type { RouteTable } from '../route-definition.ts';
import { params } from '../schema.ts';

const shared = { plane: 'management', tag: 'Usage' } as const;

export const usageRoutes = {
  listRequests: {
    ...shared,
    method: 'GET',
    path: '/api/relay/requests',
    /** `relay:usage:read` shows own traffic; `relay:usage:read:organization` shows everyone’s. */
    access: { scope: 'relay:usage:read' },
    summary: 'List requests, newest first',
    query: RequestLogQuery,
    success: { status: 200, schema: RequestLogPage },
  },
  streamRequests: {
    ...shared,
    method: 'GET',
    path: '/api/relay/requests/stream',
    access: { scope: 'relay:usage:read' },
    summary: 'Stream requests live as they finish',
    query: RequestTailQuery,
    success: { status: 200, schema: Type.String(), contentType: 'text/event-stream' },
    errors: ['too_many_streams'],
  },
  exportRequests: {
    ...shared,
    method: 'GET',
    path: '/api/relay/requests.csv',
    access: { scope: 'relay:usage:read' },
    summary: 'Download requests as CSV',
    query: RequestExportQuery,
    success: { status: 200, schema: Type.String(), contentType: 'text/csv' },
    errors: ['too_many_streams'],
  },
  getRequest: {
    ...shared,
    method: 'GET',
    path: '/api/relay/requests/{request_id}',
    access: { scope: 'relay:usage:read' },
    summary: 'Read one request with its decision trace and timings',
    params: params('request_id'),
    success: { status: 200, schema: RequestDetail },
  },
  getLive: {
    ...shared,
    method: 'GET',
    path: '/api/relay/live',
    access: { scope: 'relay:usage:read' },
    summary: 'Read waiting and in-flight requests, by lane and endpoint',
    success: { status: 200, schema: Live },
    errors: ['policy_unavailable'],
  },
  getStatsSummary: {
    ...shared,
    method: 'GET',
    path: '/api/relay/stats/summary',
    access: { scope: 'relay:usage:read' },
    summary: 'Count resources and requests by state',
    success: { status: 200, schema: StatsSummary },
  },
  getTimeseries: {
    ...shared,
    method: 'GET',
    path: '/api/relay/stats/timeseries',
    access: { scope: 'relay:usage:read' },
    summary: 'Aggregate usage over time',
    query: TimeseriesQuery,
    success: { status: 200, schema: Timeseries },
  },
  getShowback: {
    ...shared,
    method: 'GET',
    path: '/api/relay/stats/showback',
    access: { scope: 'relay:usage:read:organization' },
    summary: 'Break down spend by team, label, key, member or model',
    query: ShowbackQuery,
    success: { status: 200, schema: Showback },
  },
  exportShowback: {
    ...shared,
    method: 'GET',
    path: '/api/relay/stats/showback.csv',
    access: { scope: 'relay:usage:read:organization' },
    summary: 'Download spend by team, label, key, member or model as CSV, or with FOCUS 1.2 columns',
    query: ShowbackExportQuery,
    success: { status: 200, schema: Type.String(), contentType: 'text/csv' },
  },
  getMeteredUsage: {
    ...shared,
    method: 'GET',
    path: '/api/relay/stats/metered',
    access: { scope: 'relay:usage:read' },
    summary: 'Sum requests, tokens and cost by day, provider and upstream model, to compare with an invoice',
    query: MeteredUsageQuery,
    success: { status: 200, schema: MeteredUsage },
  },
  getWaitDistribution: {
    ...shared,
    method: 'GET',
    path: '/api/relay/stats/wait-distribution',
    access: { scope: 'relay:usage:read' },
    summary: 'Count a lane’s requests by wait time',
    query: WaitDistributionQuery,
    success: { status: 200, schema: WaitDistribution },
  },
} as const satisfies RouteTable;
