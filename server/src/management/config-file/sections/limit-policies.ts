import { ConfigLimitPolicy } from '@relay/contract';
import { demandWindow } from '../../budgets/limit-window.ts';
import { invalidField } from '../../refusals.ts';
import { demandStorable } from '../../storable-body.ts';
import { defineSection, type SectionName } from './section.ts';

const LIMITED = {
  provider: 'providers',
  credential: 'credentials',
  endpoint: 'endpoints',
  lane: 'lanes',
} as const satisfies Record<string, SectionName>;

/** Policies have no name and may repeat one another, so those on the same thing are told apart by their order. */
export const limitPolicySection = defineSection<ConfigLimitPolicy, 'limit_policies'>({
  name: 'limit_policies',
  kind: 'limit_policy',
  table: 'limit_policies',
  schema: ConfigLimitPolicy,
  defaults: { scope: null, enabled: true },
  repeats: true,
  keyOf({ scope_type, scope, metric, period }) {
    const limited = scope === null ? scope_type : `${scope_type} ${scope}`;
    return `${limited}: ${metric}/${period}`;
  },
  referencesOf({ scope_type, scope }) {
    if (scope_type === 'global' || scope === null) return [];
    return [{ field: 'scope', section: LIMITED[scope_type], key: scope }];
  },
  entryOf: (row, keyOf) => ({
    scope:
      row.scope_type === 'global' || row.scope_id === null
        ? null
        : keyOf(LIMITED[row.scope_type], row.scope_id),
    scope_type: row.scope_type,
    metric: row.metric,
    period: row.period,
    limit_value: row.limit_value,
    enabled: row.enabled,
  }),
  checked(entry) {
    demandStorable(entry);
    demandWindow(entry);
    const { scope_type, scope } = entry;
    if (scope_type === 'global' && scope !== null) {
      throw invalidField('scope', 'scope must be null or left out when scope_type is "global".');
    }
    if (scope_type !== 'global' && scope === null) {
      throw invalidField('scope', `scope must name the ${scope_type} to limit.`);
    }
    return entry;
  },
  columnsOf({ scope_type, scope, ...limit }, idOf) {
    const limited = scope_type === 'global' || scope === null ? null : idOf(LIMITED[scope_type], scope);
    return { ...limit, scope_type, scope_id: limited };
  },
});
