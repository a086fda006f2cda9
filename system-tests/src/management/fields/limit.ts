import {
  anyText,
  exactly,
  type Fields,
  flag,
  id,
  integer,
  listOf,
  nullable,
  number,
  oneOf,
  slug,
  time,
} from '../shape.ts';
import { maybeCount, maybeId, maybeText, maybeTime, metric, period } from './shared.ts';

const limitFields: Fields = {
  metric,
  period,
  limit_value: integer,
  unpriced: oneOf('refuse', 'allow'),
  enforcement: oneOf('estimate', 'hard'),
  alert_at: listOf(integer),
  alert_on_forecast: flag,
  enabled: flag,
};

/** 2.7 */
export const limitPolicy = exactly({
  id,
  scope_type: oneOf('global', 'provider', 'credential', 'endpoint', 'lane'),
  scope_id: maybeId,
  ...limitFields,
});

const budgetFields: Fields = {
  id,
  limit_uuid: id,
  target_type: oneOf('global', 'provider', 'model', 'lane'),
  target_id: maybeId,
  ...limitFields,
};

/** 2.8 */
export const userPolicies = exactly({ policies: listOf(exactly({ ...budgetFields, user_uuid: id })) });

/** 2.9 */
export const keyPolicies = exactly({
  policies: listOf(exactly({ ...budgetFields, api_key_uuid: id, owner_user_uuid: id })),
});

export const team = exactly({
  id,
  name: anyText,
  slug,
  kind: oneOf('team', 'project', 'cost_center'),
  parent_id: maybeId,
  created_at: time,
});

export const teamPolicies = exactly({ policies: listOf(exactly({ ...budgetFields, team_uuid: id })) });

const usageFields = {
  policy_id: id,
  policy_kind: oneOf('resource', 'user', 'api_key', 'team'),
  scope_type: oneOf('global', 'provider', 'credential', 'endpoint', 'model', 'lane'),
  scope_id: maybeId,
  metric,
  period,
  limit: integer,
  used: integer,
  reserved: integer,
  remaining: integer,
  resets_at: maybeTime,
  rate_per_hour: nullable(number),
  forecast: maybeCount,
  runs_out_at: maybeTime,
};

export const limitUsage = exactly(usageFields);
/** An endpoint's own limit on concurrency is named by its endpoint. */
export const endpointLimitUsage = exactly({ ...usageFields, policy_id: anyText });

const namedFields = { ...usageFields, subject_id: maybeId, subject_name: maybeText, scope_name: maybeText };

export const nextLimits = exactly({
  at: time,
  counted: oneOf('organization', 'own'),
  limits: listOf(exactly(namedFields)),
  total: integer,
  complete: flag,
});

export const requestLimits = exactly({
  at: time,
  counted: oneOf('organization', 'own'),
  // An endpoint's own limit on concurrency is named by its endpoint.
  limits: listOf(exactly({ ...namedFields, policy_id: anyText })),
});
