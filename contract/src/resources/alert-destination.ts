import Type, { type Static } from 'typebox';
import type { ResourceDefinition } from '../resource-definition.ts';
import { changeErrors, noContent } from '../route-definition.ts';
import {
  changeOf,
  closed,
  flag,
  Id,
  integer,
  Name,
  nullable,
  oneOf,
  optional,
  PageQuery,
  params,
  shownOnce,
  Timestamp,
  Url,
  WriteOnlySecret,
} from '../schema.ts';

export const AlertDestinationKind = oneOf(['webhook', 'mail'], {
  description: '`mail` requires a mail server in the deployment.',
});

const DestinationUrl = nullable(Url, { description: 'The webhook URL; null for `mail`.' });
const Address = nullable(Type.String({ minLength: 3, maxLength: 320, pattern: '^[^\\s@]+@[^\\s@]+$' }), {
  description: 'The email address; null for `webhook`.',
});
const Secret = Type.String({
  ...WriteOnlySecret,
  pattern: '^whsec_[A-Za-z0-9+/]{32,88}={0,2}$',
  maxLength: 100,
  description:
    'Used to sign webhooks: `whsec_` followed by 24 to 64 bytes in base64. If omitted when you create a webhook, Relay creates one and shows it once.',
});

export const AlertDestination = closed('AlertDestination', {
  id: Id,
  name: Name,
  kind: AlertDestinationKind,
  url: DestinationUrl,
  address: Address,
  enabled: flag({ description: 'Alerts are sent only to enabled destinations.' }),
  created_at: Timestamp,
});
export type AlertDestination = Static<typeof AlertDestination>;

export const AlertDestinationCreate = closed('AlertDestinationCreate', {
  name: Name,
  kind: AlertDestinationKind,
  url: optional(DestinationUrl),
  address: optional(Address),
  secret: optional(Secret),
  enabled: optional(flag({ default: true })),
});
export type AlertDestinationCreate = Static<typeof AlertDestinationCreate>;

export const AlertDestinationCreated = closed('AlertDestinationCreated', {
  ...AlertDestination.properties,
  secret: optional(shownOnce('The signing secret that Relay created. It is not shown again.')),
});

export const AlertDestinationUpdate = changeOf('AlertDestinationUpdate', AlertDestination, {
  name: optional(Name),
  url: optional(DestinationUrl),
  address: optional(Address),
  secret: optional(Secret),
  enabled: optional(flag()),
});
export type AlertDestinationUpdate = Static<typeof AlertDestinationUpdate>;

export const AlertTestResult = closed('AlertTestResult', {
  ok: flag(),
  status: nullable(integer(), { description: 'The receiver’s HTTP status; null if it didn’t respond.' }),
  message: Type.String({ description: 'What was found and what to do about it.' }),
  latency_ms: integer(),
});
export type AlertTestResult = Static<typeof AlertTestResult>;

const shared = { plane: 'management', tag: 'Alerts' } as const;
const read = { scope: 'relay:limits:read:organization' } as const;
const manage = { scope: 'relay:limits:manage' } as const;

export const alertDestinationResource = {
  order: 75,
  routes: {
    listAlertDestinations: {
      ...shared,
      method: 'GET',
      path: '/api/relay/alert-destinations',
      access: read,
      summary: 'List alert destinations',
      query: PageQuery,
      success: { status: 200, schema: Type.Array(AlertDestination) },
    },
    createAlertDestination: {
      ...shared,
      method: 'POST',
      path: '/api/relay/alert-destinations',
      access: manage,
      summary: 'Create an alert destination',
      body: AlertDestinationCreate,
      success: { status: 201, schema: AlertDestinationCreated },
      errors: ['conflict', 'idempotency_conflict'],
    },
    getAlertDestination: {
      ...shared,
      method: 'GET',
      path: '/api/relay/alert-destinations/{destination_id}',
      access: read,
      summary: 'Read an alert destination',
      params: params('destination_id'),
      success: { status: 200, schema: AlertDestination },
    },
    updateAlertDestination: {
      ...shared,
      method: 'PUT',
      path: '/api/relay/alert-destinations/{destination_id}',
      access: manage,
      summary: 'Change an alert destination',
      params: params('destination_id'),
      body: AlertDestinationUpdate,
      success: { status: 200, schema: AlertDestination },
      errors: changeErrors,
    },
    deleteAlertDestination: {
      ...shared,
      method: 'DELETE',
      path: '/api/relay/alert-destinations/{destination_id}',
      access: manage,
      summary: 'Delete an alert destination',
      params: params('destination_id'),
      success: noContent,
      errors: changeErrors,
    },
    testAlertDestination: {
      ...shared,
      method: 'POST',
      path: '/api/relay/alert-destinations/{destination_id}/test',
      access: manage,
      summary: 'Send a test alert to a destination',
      params: params('destination_id'),
      success: { status: 200, schema: AlertTestResult },
      errors: ['queue_full'],
    },
  },
  command: {
    singular: 'alert-destination',
    plural: 'alert-destinations',
    summary: 'Manage alert destinations',
    description: 'Manage alert destinations: webhooks and email addresses',
  },
} as const satisfies ResourceDefinition;
