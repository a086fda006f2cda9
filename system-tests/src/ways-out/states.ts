/** What an account, its membership, its invitation and the organization that invites can each be. */
export interface State {
  readonly mode: 'hosted' | 'self_hosted';
  readonly account: (typeof accounts)[number];
  readonly membership: (typeof memberships)[number];
  readonly invitation: (typeof invitations)[number];
  readonly organization: (typeof organizations)[number];
}

const accounts = [
  'none',
  'unverified',
  'verified',
  'second_factor',
  'single_sign_on',
  /** The identity provider no longer vouches for the address. */
  'single_sign_on_unvouched',
  'suspended',
] as const;
const memberships = [
  'never',
  'removed',
  'active',
  'last_owner',
  'suspended',
  /** With a session from before. */
  'suspended_in_session',
  /** Suspended here, and active in another organization. */
  'suspended_but_elsewhere',
] as const;
const invitations = ['none', 'open', 'expired', 'withdrawn'] as const;
/** `full`: no room for another member on its plan. */
const organizations = ['open', 'closed', 'full'] as const;

/** Every combination that can exist. */
export const states: readonly State[] = (['hosted', 'self_hosted'] as const).flatMap((mode) =>
  accounts.flatMap((account) =>
    memberships.flatMap((membership) =>
      invitations.flatMap((invitation) =>
        organizations
          .map((organization) => ({ mode, account, membership, invitation, organization }))
          .filter(canExist),
      ),
    ),
  ),
);

export function nameOf({ mode, account, membership, invitation, organization }: State): string {
  return `${mode}: account ${account}, membership ${membership}, invitation ${invitation}, organization ${organization}`;
}

export function isSso({ account }: State): boolean {
  return account === 'single_sign_on' || account === 'single_sign_on_unvouched';
}

export function isMember({ membership }: State): boolean {
  return membership !== 'never' && membership !== 'removed';
}

/** Who has a session without signing in again, or can sign in to the organization. */
export function isInside({ membership }: State): boolean {
  return membership === 'active' || membership === 'last_owner';
}

function canExist(state: State): boolean {
  const { mode, account, membership, invitation, organization } = state;
  if (mode === 'self_hosted' && (organization !== 'open' || membership === 'suspended_but_elsewhere'))
    return false;
  if (account === 'none' && membership !== 'never') return false;
  // Relay invites no member. A member may still have an invitation, to an address that became theirs later.
  if (isInside(state) && invitation !== 'none') return false;
  if (organization === 'full' && (invitation !== 'open' || isMember(state))) return false;
  if (organization === 'closed' && invitation !== 'open' && membership !== 'active') return false;
  if (organization !== 'open' && (account === 'second_factor' || account === 'suspended')) return false;
  // A password costs a tenth of a second: what differs in nothing but the way to sign in is asked of single sign-on.
  if (isSso(state)) return true;
  const isSimple = membership === 'never' || membership === 'removed' || membership === 'active';
  if (account === 'verified')
    return isSimple || invitation === 'none' || (invitation === 'open' && organization === 'open');
  if (invitation === 'withdrawn' || (!isSimple && membership !== 'suspended')) return false;
  if (account === 'second_factor' || account === 'suspended')
    return invitation === 'none' || membership === 'removed';
  return isSimple || invitation === 'none';
}
