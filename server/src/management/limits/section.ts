import { type ConfigLimitPolicy, limitPolicyResource } from '@relay/contract';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { tables } from '../../store/postgres/schema.ts';
import { invalidField } from '../resources/refusals.ts';
import type { SectionName, SectionOf } from '../resources/section.ts';
import { demandEnforcement } from './enforcement.ts';
import { alertColumns, alertsOf } from './limit-alerts.ts';
import { demandWindow } from './limit-window.ts';

const LIMITED = {
  provider: 'providers',
  credential: 'credentials',
  endpoint: 'endpoints',
  lane: 'lanes',
} as const satisfies Record<string, SectionName>;

/**
 * Limits have no name, so limits on the same resource are distinguished by their order. Equal ones may repeat, although the
 * API refuses them: exports of earlier versions hold such twins, and two equal limits admit what one does.
 */
export const limitPolicySection: SectionOf<ConfigLimitPolicy, typeof tables.limit_policies> = {
  announced: limitPolicyResource.section,
  defaults: {
    scope: null,
    unpriced: 'refuse',
    enforcement: 'estimate',
    enabled: true,
    alert_at: [],
    alert_on_forecast: false,
  },
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
    unpriced: row.unpriced,
    enforcement: row.enforcement,
    enabled: row.enabled,
    ...alertsOf(row),
  }),
  checked(entry) {
    demandStorable(entry);
    demandWindow(entry);
    demandEnforcement(entry);
    const { scope_type, scope } = entry;
    if (scope_type === 'global' && scope !== null) {
      throw invalidField('scope', 'scope must be null or omitted when scope_type is "global".');
    }
    if (scope_type !== 'global' && scope === null) {
      throw invalidField('scope', `scope must name the ${scope_type} to limit.`);
    }
    // Normalized as it is stored; otherwise the file would differ from the server forever.
    return { ...entry, ...alertColumns(entry) };
  },
  columnsOf({ scope_type, scope, ...limit }, idOf) {
    const limited = scope_type === 'global' || scope === null ? null : idOf(LIMITED[scope_type], scope);
    return { ...limit, scope_type, scope_id: limited };
  },
};
