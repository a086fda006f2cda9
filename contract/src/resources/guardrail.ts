import Type, { type Static } from 'typebox';
import {
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
  Slug,
  text,
  Url,
  WriteOnlySecret,
} from '../schema.ts';

const AuthMode = oneOf(['none', 'bearer_static', 'header_static'], { default: 'none' });
const HttpMethod = oneOf(['POST', 'PUT'], { default: 'POST' });
const FailureMode = oneOf(['fail_closed', 'fail_open'], { default: 'fail_closed' });
const Stage = oneOf(['pre_dispatch', 'post_response']);

const RequestTemplate = nullable(Type.Record(Type.String(), OpenJson), {
  description:
    'The JSON body sent to the guardrail; `{{text}}` stands for the inspected text. Null: the preset’s.',
});

export const ResponseRule = closed('ResponseRule', {
  path: text({ maxLength: 500, description: 'A JSON pointer into the guardrail’s answer.' }),
  operator: oneOf(['equals', 'not_equals', 'exists', 'contains', 'greater_than', 'less_than']),
  value: optional(OpenJson),
  action: oneOf(['block', 'allow']),
});

const ResponseRules = Type.Array(ResponseRule, {
  maxItems: 50,
  description: 'The first rule that matches decides; without a match the content is allowed.',
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
  ...writableExtra,
});
export type GuardrailCreate = Static<typeof GuardrailCreate>;

export const GuardrailUpdate = closed('GuardrailUpdate', {
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

const BindingTarget = oneOf(['global', 'lane', 'provider', 'endpoint']);
const BindingTargetId = nullable(Id, { description: 'Null for `global`.' });

export const GuardrailBinding = closed('GuardrailBinding', {
  id: Id,
  guardrail_id: Id,
  target_type: BindingTarget,
  target_id: BindingTargetId,
  enabled: flag(),
});
export type GuardrailBinding = Static<typeof GuardrailBinding>;

export const GuardrailDetail = closed('GuardrailDetail', {
  guardrail: Guardrail,
  bindings: Type.Array(GuardrailBinding),
});

/** The whole set of bindings of one guardrail; those not listed are removed. */
export const GuardrailBindingsUpdate = closed('GuardrailBindingsUpdate', {
  bindings: Type.Array(
    closed('GuardrailBindingWrite', {
      target_type: BindingTarget,
      target_id: optional(BindingTargetId),
      enabled: optional(flag({ default: true })),
    }),
    { maxItems: 1000 },
  ),
});
export type GuardrailBindingsUpdate = Static<typeof GuardrailBindingsUpdate>;

export const GuardrailTest = closed('GuardrailTest', {
  text: text({ minLength: 1, maxLength: 100_000 }),
  stage: optional(Stage),
});
export type GuardrailTest = Static<typeof GuardrailTest>;

export const GuardrailTestResult = closed('GuardrailTestResult', {
  verdict: oneOf(['allowed', 'blocked', 'unavailable']),
  stage: Stage,
  upstream_status: nullable(integer()),
  latency_ms: integer(),
  matched_rule: nullable(ResponseRule),
  message: Type.String(),
});
export type GuardrailTestResult = Static<typeof GuardrailTestResult>;

export const GuardrailPreset = closed('GuardrailPreset', {
  slug: Type.String(),
  name: Type.String(),
  description: Type.String(),
  http_method: HttpMethod,
  auth_mode: AuthMode,
  request_template: RequestTemplate,
  response_rules: ResponseRules,
});
export type GuardrailPreset = Static<typeof GuardrailPreset>;
