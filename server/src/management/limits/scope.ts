import type { LimitPolicy } from '@relay/contract';
import type { Transaction } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import { heldResource } from './limited-resource.ts';

export interface PolicyScope {
  readonly scope_type: LimitPolicy['scope_type'];
  readonly scope_id: string | null;
}

/**
 * The scope of a shared limit. Its resource cannot be deleted until commit. Throws 400 when it cannot be
 * limited.
 */
export async function heldScope(
  tx: Transaction<Database>,
  organizationId: string,
  { scope_type, scope_id }: PolicyScope,
): Promise<PolicyScope> {
  const named = { type: scope_type, id: scope_id, fields: 'scope' } as const;
  return { scope_type, scope_id: await heldResource(tx, organizationId, named) };
}
