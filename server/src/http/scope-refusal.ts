import type { ErrorCode, Scope } from '@relay/contract';
import { whyAbsent } from '../domain/access.ts';
import type { Caller } from '../domain/caller.ts';
import { RelayError } from '../domain/relay-error.ts';

const REMEDIES: Partial<Record<ErrorCode, string>> = {
  insufficient_scope: 'which the key doesn’t have. Create a key that does.',
  permission_denied:
    'which the user’s role doesn’t include. Ask an owner or admin of the organization to change it.',
  entitlement_missing: 'which the organization’s plan doesn’t include. Change the plan.',
  product_access_denied:
    'and the organization’s plan has ended. Renew it with the people who run this deployment; account and billing stay readable.',
};

/** The 403 for a known caller without the needed scope: which scope, why, and what to do. */
export function scopeRefusal(
  caller: Caller,
  needed: readonly Scope[],
  joined: 'and' | 'or' = 'and',
): RelayError {
  const missing = needed.filter((scope) => !caller.scopes.has(scope));
  const absent = missing[0] ?? needed[0];
  const code = absent === undefined ? 'permission_denied' : whyAbsent(caller.access, absent);
  const remedy = REMEDIES[code] ?? REMEDIES.permission_denied;
  return new RelayError(code, {
    message: `This call needs ${missing.join(` ${joined} `)}, ${remedy}`,
    fields: { required_scopes: needed },
  });
}
