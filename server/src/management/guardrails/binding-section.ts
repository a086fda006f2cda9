import { type ConfigGuardrailBinding, guardrailBindingResource } from '@relay/contract';
import type { tables } from '../../store/postgres/schema.ts';
import { invalidField } from '../resources/refusals.ts';
import type { Reference, SectionName, SectionOf } from '../resources/section.ts';

const TARGETS = {
  lane: 'lanes',
  provider: 'providers',
  endpoint: 'endpoints',
} as const satisfies Record<string, SectionName>;

export const guardrailBindingSection: SectionOf<ConfigGuardrailBinding, typeof tables.guardrail_bindings> = {
  announced: guardrailBindingResource.section,
  defaults: { target: null, enabled: true },
  keyOf({ guardrail, target_type, target }) {
    return target === null ? `${guardrail}: ${target_type}` : `${guardrail}: ${target_type} ${target}`;
  },
  referencesOf({ guardrail, target_type, target }) {
    const references: Reference[] = [{ field: 'guardrail', section: 'guardrails', key: guardrail }];
    if (target_type !== 'global' && target !== null)
      references.push({ field: 'target', section: TARGETS[target_type], key: target });
    return references;
  },
  entryOf: (row, keyOf) => ({
    guardrail: keyOf('guardrails', row.guardrail_id),
    target_type: row.target_type,
    target:
      row.target_type === 'global' || row.target_id === null
        ? null
        : keyOf(TARGETS[row.target_type], row.target_id),
    enabled: row.enabled,
  }),
  checked(entry) {
    const { target_type, target } = entry;
    if (target_type === 'global' && target !== null) {
      throw invalidField('target', 'target must be null or omitted when target_type is "global".');
    }
    if (target_type !== 'global' && target === null) {
      throw invalidField('target', `target must name the ${target_type}.`);
    }
    return entry;
  },
  columnsOf({ guardrail, target_type, target, enabled }, idOf) {
    const target_id = target_type === 'global' || target === null ? null : idOf(TARGETS[target_type], target);
    return { guardrail_id: idOf('guardrails', guardrail), target_type, target_id, enabled };
  },
};
