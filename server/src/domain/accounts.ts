import { RelayError } from './relay-error.ts';

/** Whether a deployment has user accounts: members, roles and sign-in. Keys and their budgets exist without. */
export interface AccountsSetting {
  readonly accounts: boolean;
}

export function demandAccounts({ accounts }: AccountsSetting): void {
  if (!accounts) throw new RelayError('accounts_disabled');
}
