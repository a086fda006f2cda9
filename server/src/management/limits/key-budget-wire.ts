import type { ApiKeyLimitPolicy } from '@relay/contract';
import { entityTag } from '../resources/entity-tag.ts';
import type { KeyBudgetRow } from './key-budgets.ts';
import { alertsOf } from './limit-alerts.ts';

export function toApiKeyLimitPolicy(row: KeyBudgetRow): ApiKeyLimitPolicy {
  return {
    id: row.id,
    limit_uuid: row.id,
    api_key_uuid: row.api_key_id,
    owner_user_uuid: row.owner_user_id,
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
