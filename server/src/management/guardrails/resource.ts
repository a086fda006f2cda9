import { GuardrailUpdate, guardrailBindingResource } from '@relay/contract';
import { defineResource } from '../resources/resource.ts';
import { storedTable } from '../resources/rows.ts';
import { bindingParents } from './binding-parents.ts';
import { bindingHandlers } from './binding-routes.ts';
import { guardrailBindingSection } from './binding-section.ts';
import { guardrailResource } from './replace-bindings.ts';
import { guardrailHandlers, toOneGuardrail } from './routes.ts';
import { guardrailSection } from './section.ts';

export const resources = [
  defineResource({
    ...guardrailResource,
    counted: 'guardrails',
    feature: ['guardrails', 'listGuardrails'],
    // Requests that arrive after the response must be checked with the new settings.
    isFenced: ({ enabled }) => enabled,
    change: { body: GuardrailUpdate, wire: toOneGuardrail },
    section: guardrailSection,
    handlers: guardrailHandlers,
  }),
  defineResource({
    noun: guardrailBindingResource.section.noun,
    table: storedTable('guardrail_bindings'),
    parents: bindingParents,
    isFenced: () => true,
    section: guardrailBindingSection,
    handlers: bindingHandlers,
  }),
];
