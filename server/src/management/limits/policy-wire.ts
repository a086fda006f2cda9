import type { LimitPolicy } from '@relay/contract';
import { ownerOf } from '../resources/ownership.ts';
import type { Row } from '../resources/rows.ts';
import { alertsOf } from './limit-alerts.ts';

export function toLimitPolicy(row: Row<'limit_policies'>): LimitPolicy {
  return {
    id: row.id,
    scope_type: row.scope_type,
    scope_id: row.scope_id,
    metric: row.metric,
    period: row.period,
    limit_value: row.limit_value,
    unpriced: row.unpriced,
    enforcement: row.enforcement,
    enabled: row.enabled,
    ...alertsOf(row),
    ...ownerOf(row),
  };
}
