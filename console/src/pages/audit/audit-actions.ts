import { keysOf } from '../../format/values.ts';
import type { text } from '../../text/index.ts';

export type TargetType = keyof typeof text.audit.types;

const WRITES = ['create', 'update', 'delete'] as const;

/** The actions on each kind of object, for the filter. The log may contain others. */
const VERBS: Readonly<Record<TargetType, readonly string[]>> = {
  account: ['update'],
  alert_destination: WRITES,
  api_key: ['create', 'rename', 'update', 'revoke'],
  api_key_limit_policy: WRITES,
  credential: WRITES,
  endpoint: WRITES,
  guardrail: WRITES,
  guardrail_binding: WRITES,
  invitation: ['create', 'accept', 'delete'],
  lane: WRITES,
  lane_membership: WRITES,
  limit_policy: WRITES,
  member: WRITES,
  organization: ['create', 'change_plan'],
  pricing_policy: WRITES,
  provider: WRITES,
  session: ['create', 'update', 'delete'],
  team: WRITES,
  team_limit_policy: WRITES,
  user: [
    'change_password',
    'reset_password',
    'create_password_reset',
    'change_email',
    'start_totp',
    'confirm_totp',
    'remove_totp',
  ],
  user_limit_policy: WRITES,
};

export const targetTypes = keysOf(VERBS);

/** The actions on one kind of object or on all, each with its kind. */
export function actionsOf(type: string | undefined): readonly { action: string; type: TargetType }[] {
  return targetTypes
    .filter((each) => type === undefined || each === type)
    .flatMap((each) => (VERBS[each] ?? []).map((verb) => ({ action: `${each}.${verb}`, type: each })));
}
