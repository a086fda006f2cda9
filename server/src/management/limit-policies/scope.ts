import type { LimitPolicy } from '@relay/contract';
import type { Transaction } from 'kysely';
import type { Database } from '../../store/schema.ts';
import { credentialRows } from '../credentials/queries.ts';
import { endpointRows } from '../endpoints/queries.ts';
import { laneRows } from '../lanes/queries.ts';
import { providerRows } from '../providers/queries.ts';
import { heldReference } from '../reference.ts';
import { invalidField } from '../refusals.ts';

export interface PolicyScope {
  readonly scope_type: LimitPolicy['scope_type'];
  readonly scope_id: string | null;
}

const ROWS = { provider: providerRows, credential: credentialRows, endpoint: endpointRows, lane: laneRows };

/** What the policy is to limit, kept from being deleted until commit; 400 when it cannot be limited by it. */
export async function heldScope(
  tx: Transaction<Database>,
  organizationId: string,
  { scope_type, scope_id }: PolicyScope,
): Promise<PolicyScope> {
  if (scope_type === 'global') {
    if (scope_id === null) return { scope_type, scope_id };
    throw invalidField(
      'scope_id',
      'scope_id must be null or left out when scope_type is "global": the policy applies to every request.',
    );
  }
  if (scope_id === null) {
    throw invalidField(
      'scope_id',
      `scope_id must name the ${scope_type} to limit when scope_type is "${scope_type}".`,
    );
  }
  // Which table it is does not matter any more: an id is all that is asked of the row.
  const rows = ROWS[scope_type] as typeof laneRows;
  const named = { param: 'scope_id', kind: scope_type, id: scope_id };
  const { id } = await heldReference(tx, rows, organizationId, named);
  return { scope_type, scope_id: id };
}
