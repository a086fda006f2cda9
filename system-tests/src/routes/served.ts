import type { RouteId } from '@relay/contract';

/** How a deployment runs, as far as answers depend on it. */
export interface Mode {
  readonly name: 'hosted' | 'self_hosted' | 'self_hosted_with_accounts';
  readonly hosted: boolean;
  readonly accounts: boolean;
}

export const modes = {
  hosted: { name: 'hosted', hosted: true, accounts: true },
  selfHosted: { name: 'self_hosted', hosted: false, accounts: false },
  withAccounts: { name: 'self_hosted_with_accounts', hosted: false, accounts: true },
} as const satisfies Record<string, Mode>;

/**
 * Routes of the contract that are not served yet. The walk fails for a listed route that is served, so the table can
 * only shrink.
 */
export const unserved: readonly RouteId[] = [];

/** Resource limit policies are for self-hosted deployments. */
const selfHostedOnly: readonly RouteId[] = [
  'listLimitPolicies',
  'createLimitPolicy',
  'getLimitPolicy',
  'updateLimitPolicy',
  'deleteLimitPolicy',
];

/** Further members and sign-in exist only with accounts. */
const accountWrites: readonly RouteId[] = [
  'updateMember',
  'removeMember',
  'createInvitation',
  'deleteInvitation',
  'updateSession',
  'leaveOrganization',
  'acceptInvitation',
  'requestPasswordReset',
  'confirmPasswordReset',
  'changePassword',
  'changeEmail',
  'startTotp',
  'confirmTotp',
  'removeTotp',
  'startSso',
  'finishSso',
];

/** What a caller who may do everything is answered in this mode, where the whole deployment would answer `usual`. */
export function answerIn(mode: Mode, route: RouteId, usual: string): string {
  if (unserved.includes(route)) return '501 not_implemented';
  if (mode.hosted && selfHostedOnly.includes(route)) return '403 mode_unsupported';
  if (!mode.accounts && accountWrites.includes(route)) return '403 accounts_disabled';
  if (!mode.hosted && (route === 'signUp' || route === 'requestSignUp')) return '403 mode_unsupported';
  return usual;
}
