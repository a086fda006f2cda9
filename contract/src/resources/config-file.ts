import Type, { type Static, type TProperties } from 'typebox';
import {
  closed,
  flag,
  Id,
  integer,
  Name,
  nullable,
  OpenJson,
  oneOf,
  optional,
  text,
  WriteOnlySecret,
} from '../schema.ts';
import { CredentialCreate } from './credential.ts';
import { EndpointCreate } from './endpoint.ts';
import { BindingTarget, GuardrailCreate } from './guardrail.ts';
import { LaneCreate, MembershipCreate } from './lane.ts';
import { LimitPolicyCreate } from './limit-policy.ts';
import { PricingPolicyCreate } from './pricing.ts';
import { ProviderCreate } from './provider.ts';

/** An item has the fields of the create body, except that other resources are named instead of their ids. */
function without<P extends TProperties, K extends keyof P & string>(properties: P, ...names: K[]) {
  const dropped: readonly string[] = names;
  const kept = Object.entries(properties).filter(([name]) => !dropped.includes(name));
  return Object.fromEntries(kept) as Omit<P, K>;
}

function slugOf(what: string) {
  return text({ minLength: 1, maxLength: 100, description: `The slug of ${what}.` });
}

const ItemSlug = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[^/\\s]+$',
  description:
    'What the item is known by from one apply to the next. Left out, it is derived from the name; write it down before renaming.',
});

export const ConfigProvider = closed('ConfigProvider', {
  slug: optional(ItemSlug),
  ...ProviderCreate.properties,
});
export type ConfigProvider = Static<typeof ConfigProvider>;

const SecretRef = Type.String({
  maxLength: 500,
  pattern: '^(env:[A-Za-z_][A-Za-z0-9_]*|file:[^\\s].*)$',
  description:
    'Where whoever applies the file finds the secret: `env:NAME` or `file:PATH`. The secret itself is never in the file.',
});

export const ConfigCredential = closed('ConfigCredential', {
  provider: slugOf('the provider it is for'),
  ...without(CredentialCreate.properties, 'provider_id', 'secret'),
  secret_ref: SecretRef,
});
export type ConfigCredential = Static<typeof ConfigCredential>;

export const ConfigEndpoint = closed('ConfigEndpoint', {
  slug: optional(ItemSlug),
  provider: slugOf('the provider that serves it'),
  credential: optional(
    nullable(Name, {
      default: null,
      description: 'The name of a credential of that provider. Null: the provider’s own enabled credential.',
    }),
  ),
  ...without(EndpointCreate.properties, 'provider_id', 'credential_id'),
});
export type ConfigEndpoint = Static<typeof ConfigEndpoint>;

export const ConfigLane = closed('ConfigLane', { slug: optional(ItemSlug), ...LaneCreate.properties });
export type ConfigLane = Static<typeof ConfigLane>;

export const ConfigMembership = closed('ConfigMembership', {
  lane: slugOf('the lane'),
  endpoint: slugOf('the endpoint'),
  ...without(MembershipCreate.properties, 'lane_id', 'endpoint_id'),
});
export type ConfigMembership = Static<typeof ConfigMembership>;

export const ConfigPricingPolicy = closed('ConfigPricingPolicy', {
  endpoint: slugOf('the endpoint'),
  ...without(PricingPolicyCreate.properties, 'endpoint_id'),
});
export type ConfigPricingPolicy = Static<typeof ConfigPricingPolicy>;

export const ConfigLimitPolicy = closed('ConfigLimitPolicy', {
  scope: optional(
    nullable(text({ minLength: 1, maxLength: 400 }), {
      default: null,
      description: 'The slug of what is limited; `provider-slug/name` for a credential; null for `global`.',
    }),
  ),
  ...without(LimitPolicyCreate.properties, 'scope_id'),
});
export type ConfigLimitPolicy = Static<typeof ConfigLimitPolicy>;

export const ConfigGuardrail = closed('ConfigGuardrail', {
  slug: optional(ItemSlug),
  ...without(GuardrailCreate.properties, 'secret'),
  enabled: optional(flag({ default: false })),
  secret_ref: optional(
    nullable(SecretRef, { default: null, description: 'Needed unless `auth_mode` is `none`.' }),
  ),
});
export type ConfigGuardrail = Static<typeof ConfigGuardrail>;

export const ConfigGuardrailBinding = closed('ConfigGuardrailBinding', {
  guardrail: slugOf('the guardrail'),
  target_type: BindingTarget,
  target: optional(
    nullable(text({ minLength: 1, maxLength: 100 }), {
      default: null,
      description: 'The slug of the lane, provider or endpoint; null for `global`.',
    }),
  ),
  enabled: optional(flag({ default: true })),
});
export type ConfigGuardrailBinding = Static<typeof ConfigGuardrailBinding>;

const itemsMax = { maxItems: 10_000 };

/** The declarative file. It never carries a secret. */
export const ConfigFile = closed('ConfigFile', {
  version: Type.Literal(1),
  providers: optional(Type.Array(ConfigProvider, itemsMax)),
  credentials: optional(Type.Array(ConfigCredential, itemsMax)),
  endpoints: optional(Type.Array(ConfigEndpoint, itemsMax)),
  lanes: optional(Type.Array(ConfigLane, itemsMax)),
  memberships: optional(Type.Array(ConfigMembership, itemsMax)),
  pricing_policies: optional(Type.Array(ConfigPricingPolicy, itemsMax)),
  limit_policies: optional(Type.Array(ConfigLimitPolicy, itemsMax)),
  guardrails: optional(Type.Array(ConfigGuardrail, itemsMax)),
  guardrail_bindings: optional(Type.Array(ConfigGuardrailBinding, itemsMax)),
});
export type ConfigFile = Static<typeof ConfigFile>;

const orphans = {
  prune: optional(
    flag({
      default: false,
      description: 'Delete what the file owns and no longer names. Nothing else is deleted.',
    }),
  ),
  release: optional(
    flag({
      default: false,
      description: 'Give what the file owns and no longer names back to its other writers.',
    }),
  ),
};

const Secrets = Type.Record(Type.String(), WriteOnlySecret, {
  writeOnly: true,
  description: 'Secrets by their `secret_ref`. One that differs from what is stored replaces it.',
});

export const ConfigPlanRequest = closed('ConfigPlanRequest', {
  config: ConfigFile,
  ...orphans,
  secrets: optional(Secrets),
});
export type ConfigPlanRequest = Static<typeof ConfigPlanRequest>;

export const ConfigApplyRequest = closed('ConfigApplyRequest', {
  config: ConfigFile,
  ...orphans,
  plan_hash: optional(text({ maxLength: 200, description: 'Refuse when the plan is no longer this one.' })),
  secrets: optional(Secrets),
});
export type ConfigApplyRequest = Static<typeof ConfigApplyRequest>;

const Section = oneOf([
  'providers',
  'credentials',
  'endpoints',
  'lanes',
  'memberships',
  'pricing_policies',
  'limit_policies',
  'guardrails',
  'guardrail_bindings',
]);

const ConfigChange = closed('ConfigChange', {
  action: oneOf(['create', 'update', 'delete', 'release']),
  section: Section,
  key: Type.String({ description: 'What the item is known by in the file, such as its slug.' }),
  id: nullable(Id, { description: 'Null for a create that has not been applied.' }),
  fields: Type.Array(
    closed('ConfigFieldChange', {
      field: Type.String(),
      before: OpenJson,
      after: OpenJson,
    }),
  ),
});

export const ConfigPlan = closed('ConfigPlan', {
  plan_hash: Type.String({ description: 'Of the changes; the same for the same changes.' }),
  creates: integer(),
  updates: integer(),
  deletes: integer(),
  releases: integer(),
  changes: Type.Array(ConfigChange),
  orphaned: Type.Array(closed('ConfigOrphan', { section: Section, key: Type.String(), id: Id }), {
    description: 'What the file owns and no longer names, and stays owned without `prune` or `release`.',
  }),
  required_secrets: Type.Array(Type.String(), {
    description: 'The `secret_ref`s whose values an apply has to carry.',
  }),
  secrets: Type.Array(
    closed('ConfigSecretState', {
      section: Section,
      key: Type.String(),
      secret_ref: Type.String(),
      state: oneOf(['changed', 'unchanged', 'unknown'], {
        description:
          'Whether the secret that was sent differs from what is stored. `unknown`: it was not sent, or the caller may not replace it.',
      }),
    }),
    { description: 'Every secret that the file refers to.' },
  ),
});
export type ConfigPlan = Static<typeof ConfigPlan>;
