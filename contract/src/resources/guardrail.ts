import Type, { type Static } from 'typebox';
import { ItemSlug, SecretRef, without } from '../config-item.ts';
import type { ResourceDefinition } from '../resource-definition.ts';
import { changeErrors, noContent } from '../route-definition.ts';
import {
  changeOf,
  closed,
  flag,
  HeaderFieldName,
  Id,
  integer,
  Name,
  nullable,
  OpenJson,
  oneOf,
  optional,
  PageQuery,
  params,
  Slug,
  text,
  Url,
  WriteOnlySecret,
} from '../schema.ts';
import { guardrailVerdicts } from '../words/choices.ts';
import { BindingTarget, BindingTargetId, GuardrailBinding } from './guardrail-binding.ts';
import { ManagedBy } from './values.ts';

const AuthMode = oneOf(['none', 'bearer_static', 'header_static'], { default: 'none' });
const HttpMethod = oneOf(['POST', 'PUT'], { default: 'POST' });
const FailureMode = oneOf(['fail_closed', 'fail_open'], { default: 'fail_closed' });
const Stage = oneOf(['pre_dispatch', 'post_response']);
const Verdict = oneOf(guardrailVerdicts);
const Cause = oneOf(
  [
    'timeout',
    'unreachable',
    'bad_status',
    'malformed',
    'too_large',
    'no_rule_matched',
    'circuit_open',
    'busy',
  ],
  { description: 'Why the guardrail is `unavailable`.' },
);

const RequestTemplate = nullable(Type.Record(Type.String(), OpenJson), {
  description:
    'The JSON body sent to the guardrail. Strings may contain `{{text}}`, `{{stage}}`, `{{operation}}`, `{{model}}`, `{{lane}}` and `{{request_id}}`; a string that is exactly `{{messages}}` or `{{body}}` becomes that JSON. If null, Relay uses the preset’s template.',
});

export const ResponseRule = closed('ResponseRule', {
  path: text({
    minLength: 1,
    maxLength: 500,
    description:
      "Where to look in the guardrail’s response: a JSONPath (RFC 9535) of `$`, `.name`, `['name']`, `[0]`, `[*]` and `.*`. If it selects several values, one that satisfies the operator is enough.",
  }),
  operator: oneOf(
    [
      'equals',
      'not_equals',
      'exists',
      'missing',
      'contains',
      'greater_than',
      'at_least',
      'less_than',
      'at_most',
    ],
    {
      description:
        '`contains` looks for text in a string, ignoring case, or for a value in an array. `greater_than`, `at_least`, `less_than` and `at_most` compare numbers.',
    },
  ),
  value: optional(OpenJson),
  action: oneOf(['allow', 'block', 'log', 'replace'], {
    description:
      '`log` lets the request continue and records `flagged`. `replace` replaces the response’s text with `replacement`; `post_response` only.',
  }),
  replacement: optional(text({ minLength: 1, maxLength: 10_000 })),
});
export type ResponseRule = Static<typeof ResponseRule>;

const ResponseRules = nullable(Type.Array(ResponseRule, { minItems: 1, maxItems: 50 }), {
  description:
    'The first rule that matches decides. If no rule matches the response, the guardrail counts as unavailable. If null, Relay uses the preset’s rules.',
});

const Bytes = integer({ minimum: 1, maximum: 20_971_520, default: 1_048_576 });
const TimeoutMs = integer({ minimum: 1, maximum: 60_000, default: 5_000 });
const Priority = integer({ maximum: 1_000_000, default: 100, description: 'Lower runs first.' });

const settings = {
  priority: Priority,
  timeout_ms: TimeoutMs,
  post_response_enabled: flag({ default: false }),
  failure_mode: FailureMode,
  request_template: RequestTemplate,
  response_rules: ResponseRules,
  secret_header_name: nullable(HeaderFieldName, { description: 'Used with auth mode `header_static`.' }),
  max_request_bytes: Bytes,
  max_response_bytes: Bytes,
};

export const Guardrail = closed('Guardrail', {
  id: Id,
  name: Type.String(),
  slug: Slug,
  preset_slug: Type.String(),
  base_url: Url,
  http_method: HttpMethod,
  auth_mode: AuthMode,
  pre_dispatch_enabled: flag(),
  enabled: flag({ description: 'A new guardrail is disabled.' }),
  has_credential: flag(),
  binding_count: integer(),
  ...settings,
  managed_by: optional(ManagedBy),
});
export type Guardrail = Static<typeof Guardrail>;

const writableExtra = {
  priority: optional(settings.priority),
  timeout_ms: optional(settings.timeout_ms),
  post_response_enabled: optional(settings.post_response_enabled),
  failure_mode: optional(settings.failure_mode),
  request_template: optional(settings.request_template),
  response_rules: optional(settings.response_rules),
  secret_header_name: optional(settings.secret_header_name),
  max_request_bytes: optional(settings.max_request_bytes),
  max_response_bytes: optional(settings.max_response_bytes),
  secret: optional(nullable(WriteOnlySecret, { description: 'Null removes the stored credential.' })),
};

export const GuardrailCreate = closed('GuardrailCreate', {
  name: Name,
  preset_slug: optional(text({ maxLength: 100, default: 'custom-http' })),
  base_url: Url,
  http_method: optional(HttpMethod),
  auth_mode: optional(AuthMode),
  pre_dispatch_enabled: optional(flag({ default: true })),
  enabled: optional(
    flag({ description: 'No effect on create: new guardrails are disabled. Enable them with an update.' }),
  ),
  ...writableExtra,
});
export type GuardrailCreate = Static<typeof GuardrailCreate>;

export const GuardrailUpdate = changeOf('GuardrailUpdate', Guardrail, {
  name: optional(Name),
  preset_slug: optional(text({ maxLength: 100 })),
  base_url: optional(Url),
  http_method: optional(HttpMethod),
  auth_mode: optional(AuthMode),
  pre_dispatch_enabled: optional(flag()),
  enabled: optional(flag()),
  ...writableExtra,
});
export type GuardrailUpdate = Static<typeof GuardrailUpdate>;

export const GuardrailDetail = closed('GuardrailDetail', {
  guardrail: Guardrail,
  bindings: Type.Array(GuardrailBinding),
});

export const GuardrailTest = closed('GuardrailTest', {
  text: text({ minLength: 1, maxLength: 100_000 }),
  stage: optional(Stage),
});
export type GuardrailTest = Static<typeof GuardrailTest>;

export const GuardrailTestResult = closed('GuardrailTestResult', {
  verdict: Verdict,
  stage: Stage,
  sent: Type.Unknown({ description: 'The JSON that was sent; the credential is never part of it.' }),
  received: nullable(
    closed('GuardrailResponse', {
      status: integer(),
      body: Type.String({ description: 'The beginning of the response, at most 16 KiB.' }),
      truncated: flag(),
    }),
  ),
  cause: nullable(Cause),
  latency_ms: integer(),
  matched_rule: nullable(ResponseRule),
  message: Type.String({ description: 'What was found, and what to do about it.' }),
});
export type GuardrailTestResult = Static<typeof GuardrailTestResult>;

export const GuardrailPreset = closed('GuardrailPreset', {
  slug: Type.String(),
  name: Type.String(),
  description: Type.String(),
  base_url: Type.String({
    description: 'The URL to call. Replace the parts in capitals or braces.',
  }),
  http_method: HttpMethod,
  auth_mode: AuthMode,
  secret_header_name: nullable(HeaderFieldName),
  request_template: RequestTemplate,
  response_rules: ResponseRules,
  documentation: nullable(Type.String(), { description: 'The service’s documentation of its responses.' }),
});
export type GuardrailPreset = Static<typeof GuardrailPreset>;

/** A guardrail's verdict on a finished request; never the text that it checked. */
export const GuardrailVerdict = closed('GuardrailVerdict', {
  guardrail_id: Id,
  stage: Stage,
  verdict: Verdict,
  cause: nullable(Cause),
  latency_ms: integer(),
  skipped_parts: nullable(integer(), {
    description: 'How many parts Relay skipped because they were not text; null if there were none.',
  }),
});

/** A guardrail that would run, and the bindings that select it. */
export const EffectiveGuardrail = closed('EffectiveGuardrail', {
  guardrail_id: Id,
  stages: Type.Array(Stage),
  bound_to: Type.Array(
    closed('EffectiveBinding', { target_type: BindingTarget, target_id: BindingTargetId }),
  ),
});
export type EffectiveGuardrail = Static<typeof EffectiveGuardrail>;

export const ConfigGuardrail = closed('ConfigGuardrail', {
  slug: optional(ItemSlug),
  ...without(GuardrailCreate.properties, 'secret'),
  enabled: optional(flag({ default: false })),
  secret_ref: optional(
    nullable(SecretRef, { default: null, description: 'Required unless `auth_mode` is `none`.' }),
  ),
});
export type ConfigGuardrail = Static<typeof ConfigGuardrail>;

const shared = { plane: 'management', tag: 'Guardrails' } as const;
const read = { scope: 'relay:guardrails:read' } as const;
const manage = { scope: 'relay:guardrails:manage' } as const;

export const guardrailResource = {
  order: 80,
  scopes: {
    'relay:guardrails:read': 'Read guardrails, their bindings, verdicts and the presets.',
    'relay:guardrails:manage': 'Create, change, bind, test and delete guardrails.',
  },
  routes: {
    listGuardrails: {
      ...shared,
      method: 'GET',
      path: '/api/relay/guardrails',
      access: read,
      summary: 'List guardrails',
      query: PageQuery,
      success: { status: 200, schema: Type.Array(Guardrail) },
    },
    createGuardrail: {
      ...shared,
      method: 'POST',
      path: '/api/relay/guardrails',
      access: manage,
      summary: 'Create a guardrail; it starts disabled',
      body: GuardrailCreate,
      success: { status: 201, schema: Guardrail },
      errors: ['conflict', 'idempotency_conflict'],
    },
    getGuardrail: {
      ...shared,
      method: 'GET',
      path: '/api/relay/guardrails/{guardrail_id}',
      access: read,
      summary: 'Read a guardrail and its bindings',
      params: params('guardrail_id'),
      success: { status: 200, schema: GuardrailDetail },
    },
    updateGuardrail: {
      ...shared,
      method: 'PUT',
      path: '/api/relay/guardrails/{guardrail_id}',
      access: manage,
      summary: 'Change a guardrail',
      params: params('guardrail_id'),
      body: GuardrailUpdate,
      success: { status: 200, schema: Guardrail },
      errors: changeErrors,
    },
    deleteGuardrail: {
      ...shared,
      method: 'DELETE',
      path: '/api/relay/guardrails/{guardrail_id}',
      access: manage,
      summary: 'Delete a guardrail and its bindings',
      params: params('guardrail_id'),
      success: noContent,
      errors: changeErrors,
    },
    testGuardrail: {
      ...shared,
      method: 'POST',
      path: '/api/relay/guardrails/{guardrail_id}/test',
      access: manage,
      summary: 'Check sample text with a guardrail and return the verdict',
      params: params('guardrail_id'),
      body: GuardrailTest,
      success: { status: 200, schema: GuardrailTestResult },
    },
    listGuardrailPresets: {
      ...shared,
      method: 'GET',
      path: '/api/relay/guardrail-presets',
      access: read,
      summary: 'List guardrail presets',
      query: PageQuery,
      success: { status: 200, schema: Type.Array(GuardrailPreset) },
    },
  },
  section: {
    name: 'guardrails',
    noun: 'guardrail',
    item: ConfigGuardrail,
    scopes: { read: read.scope, manage: manage.scope },
    manageWhenNamed: true,
  },
  command: {
    singular: 'guardrail',
    plural: 'guardrails',
    summary: 'Manage guardrails',
    description: 'Manage guardrails: external services that check prompts and responses',
  },
} as const satisfies ResourceDefinition;
