import type { UserLimitPolicy } from '@relay/contract';
import { entityTag } from '../resources/entity-tag.ts';
import { alertsOf } from './limit-alerts.ts';
import type { UserBudgetRow } from './user-budgets.ts';

export function toUserLimitPolicy(row: UserBudgetRow): UserLimitPolicy {
  return {
    id: row.id,
    limit_uuid: row.id,
    user_uuid: row.user_id,
    target_type: row.target_type,
    target_id: row.target_id,
    metric: row.metric,
    period: row.period,
    limit_value: row.limit_value,
    unpriced: row.unpriced,
    enforcement: row.enforcement,
    enabled: row.enabled,
    ...alertsOf(row),
    etag: entityTag(row),
  };
}
