import Type, { type Static } from 'typebox';
import {
  closed,
  flag,
  Id,
  integer,
  nullable,
  oneOf,
  optional,
  pageFields,
  query,
  Timestamp,
} from '../schema.ts';
import { LimitMetric, LimitPeriod } from './values.ts';

/** Every kind of policy, and everything that one may apply to. */
export const PolicyKind = oneOf(['resource', 'user', 'api_key', 'team']);
export const AppliesTo = oneOf(['global', 'provider', 'credential', 'endpoint', 'model', 'lane']);

const ruleFields = {
  policy_id: Id,
  policy_kind: PolicyKind,
  subject_id: nullable(Id, {
    description: 'The member, key or team whose limit it is. Null with `policy_kind` `resource`.',
  }),
  scope_type: AppliesTo,
  scope_id: nullable(Id),
  metric: LimitMetric,
  period: LimitPeriod,
  limit: integer(),
};

/** A limit that is deleted along with something else. */
export const DeletedLimit = closed('DeletedLimit', ruleFields);
export type DeletedLimit = Static<typeof DeletedLimit>;

/** The live state of one policy. */
export const LimitUsage = closed('LimitUsage', {
  ...ruleFields,
  used: integer(),
  reserved: integer(),
  remaining: integer(),
  resets_at: nullable(Timestamp),
  rate_per_hour: nullable(Type.Number({ minimum: 0 }), {
    description:
      'Usage per hour since the window began; for limits per second or minute, over the last second or minute. Includes reserved usage. Null with period `none`, and while less than a tenth of the window has passed, unless the limit is unused or at least half used.',
  }),
  forecast: nullable(integer(), {
    description:
      'Expected usage when the window resets, at this rate. Null where `rate_per_hour` is null, and with the periods `second` and `minute`, whose windows slide.',
  }),
  runs_out_at: nullable(Timestamp, {
    description:
      'When the limit will be reached at this rate; now if it already has been. Null if it won’t be reached before it resets, if there is no forecast, and with period `none`.',
  }),
});
export type LimitUsage = Static<typeof LimitUsage>;

export const LimitUsageQuery = query({
  ...pageFields,
  policy_kind: optional(PolicyKind),
  user_uuid: optional(
    Type.String({ maxLength: 100, description: 'Only limits of this member and of their keys.' }),
  ),
});

export const NextLimitsQuery = query({
  limit: optional(
    integer({ minimum: 1, maximum: 100, default: 10, description: 'Maximum number of limits to return.' }),
  ),
});

export const NamedLimit = closed('NamedLimit', {
  ...LimitUsage.properties,
  subject_name: nullable(Type.String(), { description: 'Null with `policy_kind` `resource`.' }),
  scope_name: nullable(Type.String(), { description: 'Null for `global`.' }),
});
export type NamedLimit = Static<typeof NamedLimit>;

/** For this long after a rejection, `last_rejected_at` says that a limit rejects requests. */
export const REJECTS_MS = 5 * 60_000;

export const NextLimit = closed('NextLimit', {
  ...NamedLimit.properties,
  last_rejected_at: nullable(Timestamp, {
    description:
      'When the limit last rejected a request that the caller can see, within the last 5 minutes; null without one.',
  }),
});
export type NextLimit = Static<typeof NextLimit>;

/** The limits per hour, day, week and month that need attention first. */
export const NextLimits = closed('NextLimits', {
  at: Timestamp,
  counted: oneOf(['organization', 'own'], {
    description:
      '`own`: only limits that can reject the caller, because the caller lacks `relay:limits:read:organization`.',
  }),
  limits: Type.Array(NextLimit, {
    description:
      'Limits that will be reached before they reset, soonest first; then the others, least remaining share first. Excludes limits of keys and members that can’t send, limits per second and per minute and limits on concurrency, because requests wait for them, and limits of 0.',
  }),
  total: integer({ description: 'How many limits these were chosen from.' }),
  complete: flag({
    description: 'False if the organization has more limits than Relay reads for this call.',
  }),
});
export type NextLimits = Static<typeof NextLimits>;
