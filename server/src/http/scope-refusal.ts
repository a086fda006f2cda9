import type { ErrorCode, Scope } from '@relay/contract';
import { whyAbsent } from '../domain/access.ts';
import type { Caller } from '../domain/caller.ts';
import { RelayError } from '../domain/relay-error.ts';

const REMEDIES: Partial<Record<ErrorCode, string>> = {
  insufficient_scope: 'which the key does not have. Create a key with it.',
  permission_denied:
    'which its owner is not permitted. Ask an owner or admin of the organization for the role.',
  entitlement_missing: 'which the plan of the organization does not include. Change the plan to use it.',
  product_access_denied: 'and the organization has no access to the product. Ask its owner to enable it.',
};

/** The 403 for a known caller without the needed scope: which scope, why, and what to do. */
export function scopeRefusal(caller: Caller, needed: readonly Scope[]): RelayError {
  const absent = needed.find((scope) => !caller.scopes.has(scope)) ?? needed[0];
  const code = absent === undefined ? 'permission_denied' : whyAbsent(caller.access, absent);
  const remedy = REMEDIES[code] ?? REMEDIES.permission_denied;
  return new RelayError(code, {
    message: `This call needs ${needed.join(' and ')}, ${remedy}`,
    fields: { required_scopes: needed },
  });
}
