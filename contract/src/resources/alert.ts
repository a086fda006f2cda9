import Type, { type Static } from 'typebox';
import type { ResourceDefinition } from '../resource-definition.ts';
import {
  closed,
  Id,
  integer,
  nullable,
  oneOf,
  optional,
  page,
  pageFields,
  query,
  Timestamp,
} from '../schema.ts';
import { AlertDestinationKind } from './alert-destination.ts';
import { AppliesTo, PolicyKind } from './limit-usage.ts';
import { LimitMetric, LimitPeriod } from './values.ts';

/** What a webhook carries, and what the list shows. The limit is as it was when the alert was made. */
const alertFields = {
  id: Id,
  type: oneOf(['limit.threshold', 'limit.forecast'], {
    description: '`limit.forecast`: at the current rate, usage will reach the limit before the window ends.',
  }),
  created_at: Timestamp,
  policy: closed('AlertPolicy', {
    id: Id,
    policy_kind: PolicyKind,
    subject_id: nullable(Id, {
      description: 'The team, member or key that the limit belongs to; null for a shared limit.',
    }),
    scope_type: AppliesTo,
    scope_id: nullable(Id),
    metric: LimitMetric,
    period: LimitPeriod,
  }),
  window: closed('AlertWindow', { start: Timestamp, end: Timestamp }),
  threshold_percent: nullable(integer(), { description: 'Null for a forecast.' }),
  used: integer({ description: 'Usage in the window, from the ledger; micro-USD for `spend`.' }),
  limit: integer(),
  forecast_exhausted_at: nullable(Timestamp, {
    description: 'When usage will reach the limit at the current rate.',
  }),
};

const AlertDelivery = closed('AlertDelivery', {
  destination_id: Id,
  destination_name: Type.String(),
  kind: AlertDestinationKind,
  state: oneOf(['pending', 'delivered', 'dead'], {
    description: '`dead`: not delivered within 3 days, or its destination was disabled.',
  }),
  attempts: integer(),
  last_status: nullable(integer(), { description: 'The receiver’s last HTTP status.' }),
  last_error: nullable(Type.String()),
  next_attempt_at: nullable(Timestamp),
  delivered_at: nullable(Timestamp),
});

export const Alert = closed('Alert', { ...alertFields, deliveries: Type.Array(AlertDelivery) });
export type Alert = Static<typeof Alert>;

/** The body of a webhook. */
export type AlertMessage = Omit<Alert, 'deliveries'> & {
  readonly organization: { readonly id: string; readonly name: string };
};

export const AlertPage = page('AlertPage', Alert);

export const AlertQuery = query({ policy_id: optional(Id), ...pageFields });

export const alertResource = {
  order: 76,
  routes: {
    listAlerts: {
      plane: 'management',
      tag: 'Alerts',
      method: 'GET',
      path: '/api/relay/alerts',
      access: { scope: 'relay:limits:read:organization' },
      summary: 'List alerts, newest first, with their deliveries',
      query: AlertQuery,
      success: { status: 200, schema: AlertPage },
    },
  },
} as const satisfies ResourceDefinition;
