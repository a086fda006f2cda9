/** One row of a table of section 2. Type and notes are quoted. */
export interface SpecField {
  readonly type: SpecType;
  readonly notes: string;
}

export type SpecType =
  | 'string'
  | 'string (URL)'
  | 'integer'
  | 'boolean'
  | 'array of string'
  | 'timestamp or null'
  | 'array'
  | 'object';

/** A table of section 2. A dot in the name of a field leads into an object. */
export interface SpecResource {
  readonly section: string;
  readonly title: string;
  readonly fields: Readonly<Record<string, SpecField>>;
}

export type SpecResourceName =
  | 'Account'
  | 'ApiKey'
  | 'Provider'
  | 'Lane'
  | 'Membership'
  | 'Guardrail'
  | 'LimitPolicy'
  | 'UserLimitPolicy'
  | 'ApiKeyLimitPolicy'
  | 'StatsSummary'
  | 'BillingHistory';

const userLimitPolicy: SpecResource = {
  section: '2.8',
  title: 'Hosted user limit policy',
  fields: {
    id: { type: 'string', notes: 'equals limit_uuid in listings' },
    limit_uuid: { type: 'string', notes: 'policy identifier used for update/delete' },
    user_uuid: { type: 'string', notes: 'the member the policy applies to' },
    target_type: { type: 'string', notes: 'value `global` occurs' },
    metric: { type: 'string', notes: 'value `tokens` occurs' },
    period: { type: 'string', notes: 'value `day` occurs' },
    limit_value: { type: 'integer', notes: '' },
    enabled: { type: 'boolean', notes: '' },
  },
};

const { user_uuid: _, ...sharedWithKeys } = userLimitPolicy.fields;
const sameButForTheKey =
  'Same as 2.8 but with `api_key_uuid` (public key id, never the secret) and `owner_user_uuid` in place of `user_uuid`; metric value `requests` occurs.';

const statsSentence =
  'Fields: providers (integer), endpoints (integer), lanes (integer), requests (integer), request_states (object of integer counts keyed `completed`, `failed`, `cancelled`).';
const count: SpecField = { type: 'integer', notes: statsSentence };

const billingSentence = 'Object with five arrays: invoices, payments, refunds, disputes, activities.';
const records: SpecField = { type: 'array', notes: billingSentence };

/** Section 2, by the name of the component in the OpenAPI document. */
export const specResources: Readonly<Record<SpecResourceName, SpecResource>> = {
  Account: {
    section: '2.1',
    title: 'Account',
    fields: {
      'user.id': { type: 'string', notes: 'user identifier' },
      'user.name': { type: 'string', notes: 'editable by PATCH /api/account' },
      'user.email': { type: 'string', notes: 'e-mail address of the user' },
      'user.status': { type: 'string', notes: 'value `active` occurs' },
      'user.marketing_opt_in': { type: 'boolean', notes: 'editable by PATCH /api/account/preferences' },
      'org.id': { type: 'string', notes: 'organization identifier (GET only)' },
      'org.name': { type: 'string', notes: 'organization name (GET only)' },
      role: { type: 'string', notes: "caller's role in the organization; value `owner` occurs (GET only)" },
    },
  },
  ApiKey: {
    section: '2.2',
    title: 'API key',
    fields: {
      id: { type: 'string', notes: 'public identifier of the key' },
      user_uuid: { type: 'string', notes: "owner's identifier" },
      name: { type: 'string', notes: 'label of the workload; renameable' },
      key_prefix: { type: 'string', notes: 'non-secret prefix of the secret' },
      product_key: { type: 'string', notes: 'value `model_relay` occurs' },
      scopes: { type: 'array of string', notes: 'immutable after creation' },
      status: { type: 'string', notes: 'value `active` occurs' },
      last_used_at: { type: 'timestamp or null', notes: '' },
      expires_at: { type: 'timestamp or null', notes: '' },
      revoked_at: { type: 'timestamp or null', notes: '' },
    },
  },
  Provider: {
    section: '2.3',
    title: 'Provider',
    fields: {
      id: { type: 'string', notes: '' },
      name: { type: 'string', notes: 'required on create' },
      slug: { type: 'string', notes: 'returned; derived, not sent on create' },
      base_url: { type: 'string (URL)', notes: 'upstream base address, sent on create' },
      auth_mode: { type: 'string', notes: 'value `bearer_static` occurs' },
      enabled: { type: 'boolean', notes: '' },
    },
  },
  Lane: {
    section: '2.4',
    title: 'Routing lane (group)',
    fields: {
      id: { type: 'string', notes: 'group identifier' },
      name: { type: 'string', notes: '' },
      slug: { type: 'string', notes: 'returned' },
      default_max_wait_ms: { type: 'integer', notes: 'default wait budget in milliseconds' },
      allow_fallback: { type: 'boolean', notes: '' },
      enabled: { type: 'boolean', notes: '' },
    },
  },
  Membership: {
    section: '2.5',
    title: 'Lane membership',
    fields: {
      id: { type: 'string', notes: '' },
      lane_id: { type: 'string', notes: "the routing lane's id" },
      endpoint_id: { type: 'string', notes: "the model endpoint's id" },
      manual_rank: { type: 'integer', notes: 'ordering rank within the lane' },
      enabled: { type: 'boolean', notes: '' },
    },
  },
  Guardrail: {
    section: '2.6',
    title: 'Guardrail',
    fields: {
      id: { type: 'string', notes: '' },
      name: { type: 'string', notes: '' },
      preset_slug: { type: 'string', notes: 'value `custom-http` occurs' },
      base_url: { type: 'string (URL)', notes: 'accepted on create' },
      http_method: { type: 'string', notes: 'value `POST` occurs; accepted on create' },
      auth_mode: { type: 'string', notes: 'value `none` occurs; accepted on create' },
      pre_dispatch_enabled: { type: 'boolean', notes: 'accepted on create' },
      enabled: { type: 'boolean', notes: 'returned; a newly created guardrail shows false' },
      has_credential: {
        type: 'boolean',
        notes: 'whether a credential is stored; the credential is not returned',
      },
      binding_count: { type: 'integer', notes: 'number of bindings' },
    },
  },
  LimitPolicy: {
    section: '2.7',
    title: 'Resource limit policy (self-hosted)',
    fields: {
      id: { type: 'string', notes: '' },
      scope_type: { type: 'string', notes: 'value `global` occurs' },
      metric: { type: 'string', notes: 'value `requests` occurs' },
      period: { type: 'string', notes: 'value `minute` occurs' },
      limit_value: { type: 'integer', notes: '' },
      enabled: { type: 'boolean', notes: '' },
    },
  },
  UserLimitPolicy: userLimitPolicy,
  ApiKeyLimitPolicy: {
    section: '2.9',
    title: 'Hosted API-key limit policy',
    fields: {
      ...sharedWithKeys,
      api_key_uuid: { type: 'string', notes: sameButForTheKey },
      owner_user_uuid: { type: 'string', notes: sameButForTheKey },
      metric: { type: 'string', notes: 'metric value `requests` occurs' },
    },
  },
  StatsSummary: {
    section: '2.10',
    title: 'Stats summary',
    fields: {
      providers: count,
      endpoints: count,
      lanes: count,
      requests: count,
      request_states: { type: 'object', notes: statsSentence },
      'request_states.completed': count,
      'request_states.failed': count,
      'request_states.cancelled': count,
    },
  },
  BillingHistory: {
    section: '2.11',
    title: 'Billing history',
    fields: {
      invoices: records,
      payments: records,
      refunds: records,
      disputes: records,
      activities: records,
    },
  },
};

/** Values that a table shows: those of its notes, by resource and field. */
export function specValuesOf({ notes }: SpecField): readonly string[] {
  return [...notes.matchAll(/(?:^(?:metric )?|; )value `([\w-]+)` occurs/g)].map(([, value = '']) => value);
}
