import {
  anyText,
  anything,
  email,
  exactly,
  flag,
  id,
  listOf,
  nullable,
  oneOf,
  recordOf,
  type Shape,
  time,
  url,
} from '../shape.ts';
import { maybeId, maybeText, maybeTime } from './shared.ts';

const role = oneOf('owner', 'admin', 'developer', 'viewer', 'billing');
const status = oneOf('active', 'invited', 'suspended');

/** 2.1 */
const user = exactly({ id, name: anyText, email, status, marketing_opt_in: flag });
export const org = exactly({ id, name: anyText });
export const account = exactly({ user, org, role });
export const userEnvelope = exactly({ user });

/** 2.2 */
export const apiKey = exactly({
  id,
  user_uuid: id,
  name: anyText,
  key_prefix: anyText,
  product_key: oneOf('model_relay'),
  scopes: listOf(anyText),
  status: oneOf('active', 'revoked', 'expired'),
  created_at: time,
  first_used_at: maybeTime,
  last_used_at: maybeTime,
  expires_at: maybeTime,
  revoked_at: maybeTime,
  team_id: maybeId,
  labels: recordOf(anyText),
});
export const apiKeys = listOf(apiKey);
export const apiKeyList = exactly({ api_keys: apiKeys });
export const apiKeyCreated = exactly({ api_key: anyText, key: apiKey });
export const scopeList = exactly({ scopes: listOf(anyText) });

/** 2.11: nothing is charged for through Relay itself. */
const noRecords: Shape = (value, path) =>
  Array.isArray(value) && value.length === 0 ? [] : [`${path} is not an empty list`];
export const billingHistory = exactly({
  invoices: noRecords,
  payments: noRecords,
  refunds: noRecords,
  disputes: noRecords,
  activities: noRecords,
});

export const member = exactly({
  id,
  name: anyText,
  email,
  role,
  status,
  joined_at: maybeTime,
  last_seen_at: maybeTime,
  team_id: maybeId,
});

export const invitation = exactly({
  id,
  email,
  role,
  status: oneOf('pending', 'accepted', 'expired'),
  invited_by: maybeId,
  created_at: time,
  expires_at: time,
});
export const invitationCreated = exactly({
  invitation,
  accept_url: url,
  email_delivery: oneOf('queued', 'rejected', 'not_configured'),
});

const auditEntry = exactly({
  id,
  at: time,
  actor: exactly({
    type: oneOf('user', 'api_key', 'admin_token', 'config_file', 'system'),
    id: maybeId,
    name: maybeText,
  }),
  action: anyText,
  target_type: anyText,
  target_id: maybeId,
  before: nullable(recordOf(anything)),
  after: nullable(recordOf(anything)),
  request_id: maybeId,
});
export const auditPage = exactly({ data: listOf(auditEntry), next_cursor: maybeText });

export const session = exactly({
  user,
  org,
  role,
  suspended: flag,
  orgs: listOf(org),
  has_password: flag,
  has_second_factor: flag,
  csrf_token: anyText,
  expires_at: maybeTime,
});
export const browserSession = exactly({
  id,
  current: flag,
  created_at: time,
  expires_at: time,
  ip_address: maybeText,
  user_agent: maybeText,
});
export const totpSetup = exactly({ uri: anyText, backup_codes: listOf(anyText) });

export const capabilities = exactly({
  mode: oneOf('self_hosted', 'hosted'),
  accounts: flag,
  version: anyText,
  features: recordOf(flag),
  scopes: listOf(anyText),
});

export const signInMethods = exactly({
  mode: oneOf('self_hosted', 'hosted'),
  token: flag,
  accounts: flag,
  sso: flag,
  sign_up: flag,
  sign_up_link: flag,
  password_reset: flag,
});
