import type { SpecResourceName } from './resources.ts';

export type SpecMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One row of a table of section 4. */
export interface SpecRoute {
  /** Method and path without the query, relative to the server. */
  readonly line: `${SpecMethod} ${string}`;
  readonly method: SpecMethod;
  readonly path: string;
  readonly server: '{base_url}' | '{api_origin}';
  readonly section: '4.1' | '4.2';
  /** The row, quoted. */
  readonly quote: string;
  readonly status: number;
  readonly bodyFields?: readonly string[];
  /** Body fields that may be left out. */
  readonly optionalBodyFields?: readonly string[];
  readonly queryParameters?: readonly string[];
  readonly answer: SpecAnswer;
}

/** How the success body is built: fields of an object, or the resource of a bare object or array. */
export type SpecAnswer =
  | { readonly none: true }
  | { readonly fields: readonly string[] }
  | { readonly arrayOf: SpecResourceName }
  | { readonly object: SpecResourceName };

const none = { none: true } as const;

/** Cells as they stand in the table; what they say is read from them. */
function management(cell: string, body: string, success: string, answer: SpecAnswer): SpecRoute {
  const [method, address] = cell.split(' ') as [SpecMethod, string];
  const [path = '', query] = address.split('?');
  const [required = '', optional] = body.split('; optional ');
  const queryName = query?.split('=')[0];
  return {
    line: `${method} ${path}`,
    method,
    path,
    server: '{api_origin}',
    section: '4.2',
    quote: `| ${method} | ${address} | ${body} | ${success} |`,
    status: Number.parseInt(success, 10),
    answer,
    ...(body.startsWith('none') ? {} : { bodyFields: namesIn(required) }),
    ...(optional === undefined ? {} : { optionalBodyFields: namesIn(optional) }),
    ...(queryName === undefined ? {} : { queryParameters: [queryName] }),
  };
}

function namesIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
}

function inference(cell: string, body: string, success: string, bodyFields?: readonly string[]): SpecRoute {
  const [method, path] = cell.replace('{base_url}', '').split(' ') as [SpecMethod, string];
  return {
    line: `${method} ${path}`,
    method,
    path,
    server: '{base_url}',
    section: '4.1',
    quote: `| ${method} | {base_url}${path} | ${body} | ${success} |`,
    status: Number.parseInt(success, 10),
    answer: { fields: path === '/models' ? ['object', 'data'] : [] },
    ...(bodyFields === undefined ? {} : { bodyFields }),
  };
}

const laneBody = '`name`, `default_max_wait_ms`, `allow_fallback`, `enabled`';
const policyBody = '`scope_type`, `metric`, `period`, `limit_value`, `enabled`';

/** Section 4.1. Paths are relative to {base_url}. */
export const specInferenceRoutes: readonly SpecRoute[] = [
  inference(
    'POST {base_url}/chat/completions',
    'chat completion body (2.12)',
    '200; application/json provider-compatible object whose fields vary by provider, or text/event-stream of provider frames when streaming',
    ['model', 'messages'],
  ),
  inference('POST {base_url}/responses', 'response body (2.12)', '200; as above (JSON or event stream)', [
    'model',
    'input',
  ]),
  inference('POST {base_url}/embeddings', 'embeddings body (2.12)', '200; JSON only', ['model', 'input']),
  inference('GET {base_url}/models', 'none', '200; model list (2.13)'),
];

/** Section 4.1: which of the three POST operations may answer an event stream. */
export const specStreamingPaths: readonly string[] = ['/chat/completions', '/responses'];

/** Section 4.2. */
export const specManagementRoutes: readonly SpecRoute[] = [
  management('GET /api/account', 'none', '200 `{user, org, role}`', { fields: ['user', 'org', 'role'] }),
  management('PATCH /api/account', 'object; field `name` (string)', '200 `{user}`', { fields: ['user'] }),
  management('PATCH /api/account/preferences', 'object; field `marketing_opt_in` (boolean)', '200 `{user}`', {
    fields: ['user'],
  }),
  management('GET /api/account/api-keys', 'none', '200 `{api_keys: [key]}`', { fields: ['api_keys'] }),
  management(
    'POST /api/account/api-keys',
    '`name` (string), `scopes` (array of string)',
    '201 `{api_key: <secret>, key: <key>}`',
    { fields: ['api_key', 'key'] },
  ),
  management(
    'GET /api/account/api-key-scopes',
    'none',
    '200 `{scopes: [string]}` permitted to the owner and calling key',
    { fields: ['scopes'] },
  ),
  management('PATCH /api/account/api-keys/{api_key_id}', '`name` (string)', '204, no body', none),
  management('DELETE /api/account/api-keys/{api_key_id}', 'none', '204, no body', none),
  management('GET /api/relay/providers', 'none', '200 array of provider', { arrayOf: 'Provider' }),
  management('POST /api/relay/providers', '`name`, `base_url`, `auth_mode`, `enabled`', '201 provider', {
    object: 'Provider',
  }),
  management('GET /api/billing/history', 'none', '200 billing history (2.11)', { object: 'BillingHistory' }),
  management('GET /api/relay/stats/summary', 'none', '200 stats summary (2.10)', { object: 'StatsSummary' }),
  management('GET /api/relay/routing-lanes', 'none', '200 array of lane', { arrayOf: 'Lane' }),
  management('POST /api/relay/routing-lanes', laneBody, '201 lane', { object: 'Lane' }),
  management('PUT /api/relay/routing-lanes/{group_id}', `same fields as create: ${laneBody}`, '200 lane', {
    object: 'Lane',
  }),
  management('DELETE /api/relay/routing-lanes/{group_id}', 'none', '204, no body', none),
  management('GET /api/relay/lane-memberships', 'none', '200 array of membership', { arrayOf: 'Membership' }),
  management(
    'POST /api/relay/lane-memberships',
    '`lane_id`, `endpoint_id`, `manual_rank`, `enabled`',
    '201 membership',
    { object: 'Membership' },
  ),
  management(
    'PUT /api/relay/lane-memberships/{membership_id}',
    '`manual_rank`, `enabled`',
    '200 membership',
    { object: 'Membership' },
  ),
  management('DELETE /api/relay/lane-memberships/{membership_id}', 'none', '204, no body', none),
  management('GET /api/relay/guardrails', 'none', '200 array of guardrail', { arrayOf: 'Guardrail' }),
  management(
    'POST /api/relay/guardrails',
    '`name`, `preset_slug`, `base_url`, `http_method`, `auth_mode`, `pre_dispatch_enabled`',
    '201 guardrail',
    { object: 'Guardrail' },
  ),
  management('GET /api/relay/guardrails/{guardrail_id}', 'none', '200 `{guardrail, bindings}`', {
    fields: ['guardrail', 'bindings'],
  }),
  management(
    'PUT /api/relay/guardrails/{guardrail_id}',
    'object; fields `name`, `enabled` occur',
    '200 (body of the response: not shown)',
    { fields: [] },
  ),
  management('GET /api/relay/limit-policies', 'none', '200 array of resource policy', {
    arrayOf: 'LimitPolicy',
  }),
  management('POST /api/relay/limit-policies', policyBody, '201 policy', { object: 'LimitPolicy' }),
  management(
    'PUT /api/relay/limit-policies/{policy_id}',
    `same fields as create: ${policyBody}`,
    '200 policy',
    { object: 'LimitPolicy' },
  ),
  management('DELETE /api/relay/limit-policies/{policy_id}', 'none', '204, no body', none),
  management('GET /api/relay/pro/user-limit-policies', 'none', '200 `{policies: [user policy]}`', {
    fields: ['policies'],
  }),
  management(
    'POST /api/relay/pro/user-limit-policies',
    '`user_uuid`, `target_type`, `metric`, `period`, `limit_value`, `enabled`; optional `limit_uuid`',
    '200 `{ok: true}` (upsert)',
    { fields: ['ok'] },
  ),
  management(
    'DELETE /api/relay/pro/user-limit-policies?limit_uuid=<policy_id>',
    'none (query parameter limit_uuid)',
    '200 `{ok: true}`',
    { fields: ['ok'] },
  ),
  management('GET /api/relay/api-key-limit-policies', 'none', '200 `{policies: [key policy]}`', {
    fields: ['policies'],
  }),
  management(
    'POST /api/relay/api-key-limit-policies',
    '`api_key_uuid`, `target_type`, `metric`, `period`, `limit_value`, `enabled`; optional `limit_uuid`',
    '200 `{ok: true}` (upsert)',
    { fields: ['ok'] },
  ),
  management(
    'DELETE /api/relay/api-key-limit-policies?limit_uuid=<policy_id>',
    'none (query parameter limit_uuid)',
    '200 `{ok: true}`',
    { fields: ['ok'] },
  ),
];

/** Section 4.1: headers on 200 of the three POST operations. */
export const specHeaders: Readonly<
  Record<string, { readonly type: 'string' | 'integer'; readonly meaning: string }>
> = {
  'X-Relay-Selected-Endpoint': { type: 'string', meaning: 'selected path/admission metadata' },
  'X-Relay-Selected-Endpoint-Id': { type: 'string', meaning: 'selected endpoint id' },
  'X-Relay-Selected-Provider-Id': { type: 'string', meaning: 'selected provider id' },
  'X-Relay-Selected-Upstream-Model': { type: 'string', meaning: 'upstream model used' },
  'X-Relay-Wait-Ms': { type: 'integer', meaning: 'time waited for capacity, milliseconds' },
  'X-Relay-Fallback-Count': { type: 'integer', meaning: 'fallbacks used' },
  'X-Relay-Estimated-Input-Tokens': { type: 'integer', meaning: 'estimate at admission' },
  'X-Relay-Estimated-Output-Tokens': { type: 'integer', meaning: 'estimate at admission' },
  'X-Relay-Estimated-Cost-Micros': { type: 'integer', meaning: 'estimated cost in micro-units' },
  'X-Relay-Actual-Input-Tokens': { type: 'integer', meaning: 'terminal metering, non-streaming only' },
  'X-Relay-Actual-Output-Tokens': { type: 'integer', meaning: 'terminal metering, non-streaming only' },
  'X-Relay-Actual-Total-Tokens': { type: 'integer', meaning: 'terminal metering, non-streaming only' },
  'X-Relay-Actual-Cost-Micros': { type: 'integer', meaning: 'terminal metering, non-streaming only' },
};

export const NON_STREAMING_ONLY = 'terminal metering, non-streaming only';
