/**
 * The tables of the interface specification, sections 2 and 4, transcribed as data. Tests compare the built
 * OpenAPI document with them, so that the contract can grow but never loses what was specified.
 */
export interface SpecRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly status: number;
  readonly server: '{base_url}' | '{api_origin}';
  readonly bodyFields?: readonly string[];
  /** Body fields that may be left out. */
  readonly optionalBodyFields?: readonly string[];
  readonly queryParameters?: readonly string[];
  /** How the success body is built: fields of an object, or the component of a bare object or array. */
  readonly answer: SpecAnswer;
}

export type SpecAnswer =
  | { readonly none: true }
  | { readonly fields: readonly string[] }
  | { readonly arrayOf: string }
  | { readonly object: string };

const none = { none: true } as const;
const inference = { server: '{base_url}', status: 200 } as const;
const management = { server: '{api_origin}' } as const;

const laneBody = ['name', 'default_max_wait_ms', 'allow_fallback', 'enabled'];
const policyBody = ['scope_type', 'metric', 'period', 'limit_value', 'enabled'];
const budgetBody = ['target_type', 'metric', 'period', 'limit_value', 'enabled'];

/** Section 4.1. Paths are relative to {base_url}. */
export const specInferenceRoutes: readonly SpecRoute[] = [
  {
    ...inference,
    method: 'POST',
    path: '/chat/completions',
    bodyFields: ['model', 'messages'],
    answer: { fields: [] },
  },
  {
    ...inference,
    method: 'POST',
    path: '/responses',
    bodyFields: ['model', 'input'],
    answer: { fields: [] },
  },
  {
    ...inference,
    method: 'POST',
    path: '/embeddings',
    bodyFields: ['model', 'input'],
    answer: { fields: [] },
  },
  { ...inference, method: 'GET', path: '/models', answer: { fields: ['object', 'data'] } },
];

/** Section 4.1: which of the three POST operations may answer an event stream. */
export const specStreamingPaths: readonly string[] = ['/chat/completions', '/responses'];

/** Section 4.1: headers on 200 of the three POST operations. */
export const specHeaders: Readonly<Record<string, 'string' | 'integer'>> = {
  'X-Relay-Selected-Endpoint': 'string',
  'X-Relay-Selected-Endpoint-Id': 'string',
  'X-Relay-Selected-Provider-Id': 'string',
  'X-Relay-Selected-Upstream-Model': 'string',
  'X-Relay-Wait-Ms': 'integer',
  'X-Relay-Fallback-Count': 'integer',
  'X-Relay-Estimated-Input-Tokens': 'integer',
  'X-Relay-Estimated-Output-Tokens': 'integer',
  'X-Relay-Estimated-Cost-Micros': 'integer',
  'X-Relay-Actual-Input-Tokens': 'integer',
  'X-Relay-Actual-Output-Tokens': 'integer',
  'X-Relay-Actual-Total-Tokens': 'integer',
  'X-Relay-Actual-Cost-Micros': 'integer',
};

function route(
  line: `${SpecRoute['method']} ${string}`,
  status: number,
  answer: SpecAnswer,
  more: Partial<SpecRoute> = {},
): SpecRoute {
  const [method, path] = line.split(' ') as [SpecRoute['method'], string];
  return { ...management, method, path, status, answer, ...more };
}

/** Section 4.2. */
export const specManagementRoutes: readonly SpecRoute[] = [
  route('GET /api/account', 200, { fields: ['user', 'org', 'role'] }),
  route('PATCH /api/account', 200, { fields: ['user'] }, { bodyFields: ['name'] }),
  route('PATCH /api/account/preferences', 200, { fields: ['user'] }, { bodyFields: ['marketing_opt_in'] }),
  route('GET /api/account/api-keys', 200, { fields: ['api_keys'] }),
  route(
    'POST /api/account/api-keys',
    201,
    { fields: ['api_key', 'key'] },
    { bodyFields: ['name', 'scopes'] },
  ),
  route('GET /api/account/api-key-scopes', 200, { fields: ['scopes'] }),
  route('PATCH /api/account/api-keys/{api_key_id}', 204, none, { bodyFields: ['name'] }),
  route('DELETE /api/account/api-keys/{api_key_id}', 204, none),
  route('GET /api/relay/providers', 200, { arrayOf: 'Provider' }),
  route(
    'POST /api/relay/providers',
    201,
    { object: 'Provider' },
    {
      bodyFields: ['name', 'base_url', 'auth_mode', 'enabled'],
    },
  ),
  route('GET /api/billing/history', 200, { object: 'BillingHistory' }),
  route('GET /api/relay/stats/summary', 200, { object: 'StatsSummary' }),
  route('GET /api/relay/routing-lanes', 200, { arrayOf: 'Lane' }),
  route('POST /api/relay/routing-lanes', 201, { object: 'Lane' }, { bodyFields: laneBody }),
  route('PUT /api/relay/routing-lanes/{group_id}', 200, { object: 'Lane' }, { bodyFields: laneBody }),
  route('DELETE /api/relay/routing-lanes/{group_id}', 204, none),
  route('GET /api/relay/lane-memberships', 200, { arrayOf: 'Membership' }),
  route(
    'POST /api/relay/lane-memberships',
    201,
    { object: 'Membership' },
    {
      bodyFields: ['lane_id', 'endpoint_id', 'manual_rank', 'enabled'],
    },
  ),
  route(
    'PUT /api/relay/lane-memberships/{membership_id}',
    200,
    { object: 'Membership' },
    {
      bodyFields: ['manual_rank', 'enabled'],
    },
  ),
  route('DELETE /api/relay/lane-memberships/{membership_id}', 204, none),
  route('GET /api/relay/guardrails', 200, { arrayOf: 'Guardrail' }),
  route(
    'POST /api/relay/guardrails',
    201,
    { object: 'Guardrail' },
    {
      bodyFields: ['name', 'preset_slug', 'base_url', 'http_method', 'auth_mode', 'pre_dispatch_enabled'],
    },
  ),
  route('GET /api/relay/guardrails/{guardrail_id}', 200, { fields: ['guardrail', 'bindings'] }),
  route(
    'PUT /api/relay/guardrails/{guardrail_id}',
    200,
    { object: 'Guardrail' },
    {
      bodyFields: ['name', 'enabled'],
    },
  ),
  route('GET /api/relay/limit-policies', 200, { arrayOf: 'LimitPolicy' }),
  route('POST /api/relay/limit-policies', 201, { object: 'LimitPolicy' }, { bodyFields: policyBody }),
  route(
    'PUT /api/relay/limit-policies/{policy_id}',
    200,
    { object: 'LimitPolicy' },
    { bodyFields: policyBody },
  ),
  route('DELETE /api/relay/limit-policies/{policy_id}', 204, none),
  route('GET /api/relay/pro/user-limit-policies', 200, { fields: ['policies'] }),
  route(
    'POST /api/relay/pro/user-limit-policies',
    200,
    { fields: ['ok'] },
    {
      bodyFields: ['user_uuid', ...budgetBody],
      optionalBodyFields: ['limit_uuid'],
    },
  ),
  route(
    'DELETE /api/relay/pro/user-limit-policies',
    200,
    { fields: ['ok'] },
    {
      queryParameters: ['limit_uuid'],
    },
  ),
  route('GET /api/relay/api-key-limit-policies', 200, { fields: ['policies'] }),
  route(
    'POST /api/relay/api-key-limit-policies',
    200,
    { fields: ['ok'] },
    {
      bodyFields: ['api_key_uuid', ...budgetBody],
      optionalBodyFields: ['limit_uuid'],
    },
  ),
  route(
    'DELETE /api/relay/api-key-limit-policies',
    200,
    { fields: ['ok'] },
    {
      queryParameters: ['limit_uuid'],
    },
  ),
];

/** `timestamp?` is a timestamp or null; `[]` marks an array; any other word is a JSON type or a component. */
export type SpecFields = Readonly<Record<string, string>>;

const budgetFields: SpecFields = {
  id: 'string',
  limit_uuid: 'string',
  target_type: 'string',
  metric: 'string',
  period: 'string',
  limit_value: 'integer',
  enabled: 'boolean',
};

/** Section 2: component name → fields and their types. */
export const specResources: Readonly<Record<string, SpecFields>> = {
  Account: { user: 'User', org: 'Org', role: 'string' },
  User: { id: 'string', name: 'string', email: 'string', status: 'string', marketing_opt_in: 'boolean' },
  Org: { id: 'string', name: 'string' },
  ApiKey: {
    id: 'string',
    user_uuid: 'string',
    name: 'string',
    key_prefix: 'string',
    product_key: 'string',
    scopes: 'string[]',
    status: 'string',
    last_used_at: 'timestamp?',
    expires_at: 'timestamp?',
    revoked_at: 'timestamp?',
  },
  Provider: {
    id: 'string',
    name: 'string',
    slug: 'string',
    base_url: 'string',
    auth_mode: 'string',
    enabled: 'boolean',
  },
  Lane: {
    id: 'string',
    name: 'string',
    slug: 'string',
    default_max_wait_ms: 'integer',
    allow_fallback: 'boolean',
    enabled: 'boolean',
  },
  Membership: {
    id: 'string',
    lane_id: 'string',
    endpoint_id: 'string',
    manual_rank: 'integer',
    enabled: 'boolean',
  },
  Guardrail: {
    id: 'string',
    name: 'string',
    preset_slug: 'string',
    base_url: 'string',
    http_method: 'string',
    auth_mode: 'string',
    pre_dispatch_enabled: 'boolean',
    enabled: 'boolean',
    has_credential: 'boolean',
    binding_count: 'integer',
  },
  GuardrailDetail: { guardrail: 'Guardrail', bindings: 'GuardrailBinding[]' },
  LimitPolicy: {
    id: 'string',
    scope_type: 'string',
    metric: 'string',
    period: 'string',
    limit_value: 'integer',
    enabled: 'boolean',
  },
  UserLimitPolicy: { ...budgetFields, user_uuid: 'string' },
  ApiKeyLimitPolicy: { ...budgetFields, api_key_uuid: 'string', owner_user_uuid: 'string' },
  StatsSummary: {
    providers: 'integer',
    endpoints: 'integer',
    lanes: 'integer',
    requests: 'integer',
    request_states: 'RequestStateCounts',
  },
  RequestStateCounts: { completed: 'integer', failed: 'integer', cancelled: 'integer' },
  BillingHistory: {
    invoices: 'BillingInvoice[]',
    payments: 'BillingPayment[]',
    refunds: 'BillingRefund[]',
    disputes: 'BillingDispute[]',
    activities: 'BillingActivity[]',
  },
};

/** Values the specification shows: component.field → values that must be allowed. */
export const specValues: Readonly<Record<string, readonly string[]>> = {
  'User.status': ['active'],
  'Account.role': ['owner'],
  'ApiKey.status': ['active'],
  'Provider.auth_mode': ['bearer_static'],
  'Guardrail.http_method': ['POST'],
  'Guardrail.auth_mode': ['none'],
  'LimitPolicy.scope_type': ['global'],
  'LimitPolicy.metric': ['requests', 'tokens'],
  'LimitPolicy.period': ['minute', 'day'],
  'UserLimitPolicy.target_type': ['global'],
  'UserLimitPolicy.metric': ['tokens'],
  'UserLimitPolicy.period': ['day'],
  'ApiKeyLimitPolicy.metric': ['requests'],
};

/** Section 5, rule 3. */
export const specScopes: readonly string[] = [
  'relay:request',
  'relay:providers:read',
  'relay:providers:manage',
  'cloud:account:manage',
  'relay:limits:read:organization',
  'relay:limits:manage',
];

/** Section 7: plane → error statuses. */
export const specErrorStatuses = {
  inference: [400, 401, 403, 413, 429, 502, 503],
  models: [401, 403, 503],
  management: [401, 403],
  managementWithId: [404],
} as const;
