import { RelayError } from '../../domain/relay-error.ts';
import type { Deployment } from '../deps.ts';

/** Whether members, keys and budgets exist in this deployment. */
export function hasAccounts({ mode, accounts }: Deployment): boolean {
  return mode === 'hosted' || accounts;
}

export function demandAccounts(deployment: Deployment): void {
  if (!hasAccounts(deployment)) throw new RelayError('accounts_disabled');
}
