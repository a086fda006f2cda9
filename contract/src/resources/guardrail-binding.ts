import Type, { type Static } from 'typebox';
import { slugOf } from '../config-item.ts';
import type { ResourceDefinition } from '../resource-definition.ts';
import { changeErrors } from '../route-definition.ts';
import { changeOf, closed, flag, Id, nullable, oneOf, optional, PageQuery, params, text } from '../schema.ts';
import { ManagedBy } from './values.ts';

export const BindingTarget = oneOf(['global', 'lane', 'provider', 'endpoint']);
export const BindingTargetId = nullable(Id, { description: 'Null for `global`.' });

export const GuardrailBinding = closed('GuardrailBinding', {
  id: Id,
  guardrail_id: Id,
  target_type: BindingTarget,
  target_id: BindingTargetId,
  enabled: flag(),
  managed_by: optional(ManagedBy),
});
export type GuardrailBinding = Static<typeof GuardrailBinding>;

export const GuardrailBindingWrite = changeOf('GuardrailBindingWrite', GuardrailBinding, {
  target_type: BindingTarget,
  target_id: optional(BindingTargetId),
  enabled: optional(flag({ default: true })),
});

/** The whole set of bindings of one guardrail; those not listed are removed. */
export const GuardrailBindingsUpdate = closed('GuardrailBindingsUpdate', {
  bindings: Type.Array(GuardrailBindingWrite, { maxItems: 1000 }),
});
export type GuardrailBindingsUpdate = Static<typeof GuardrailBindingsUpdate>;

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

const shared = { plane: 'management', tag: 'Guardrails' } as const;
const read = { scope: 'relay:guardrails:read' } as const;
const manage = { scope: 'relay:guardrails:manage' } as const;

export const guardrailBindingResource = {
  order: 90,
  routes: {
    listGuardrailBindings: {
      ...shared,
      method: 'GET',
      path: '/api/relay/guardrails/{guardrail_id}/bindings',
      access: read,
      summary: 'List the bindings of a guardrail',
      params: params('guardrail_id'),
      query: PageQuery,
      success: { status: 200, schema: Type.Array(GuardrailBinding) },
    },
    replaceGuardrailBindings: {
      ...shared,
      method: 'PUT',
      path: '/api/relay/guardrails/{guardrail_id}/bindings',
      access: manage,
      summary: 'Replace the bindings of a guardrail',
      params: params('guardrail_id'),
      body: GuardrailBindingsUpdate,
      success: { status: 200, schema: Type.Array(GuardrailBinding) },
      errors: changeErrors,
    },
  },
  section: {
    name: 'guardrail_bindings',
    noun: 'guardrail_binding',
    item: ConfigGuardrailBinding,
    scopes: { read: read.scope, manage: manage.scope },
    manageWhenNamed: true,
  },
} as const satisfies ResourceDefinition;
