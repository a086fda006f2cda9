import type { Transaction } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import { credentialRows } from '../credentials/queries.ts';
import { endpointRows } from '../endpoints/queries.ts';
import { laneRows } from '../lanes/queries.ts';
import { providerRows } from '../providers/queries.ts';
import { heldReference } from '../reference.ts';
import { invalidField } from '../refusals.ts';

const ROWS = {
  provider: providerRows,
  credential: credentialRows,
  endpoint: endpointRows,
  model: endpointRows,
  lane: laneRows,
};

/** What a limit is to be on, and the two fields of the body that say so. */
export interface NamedResource {
  readonly type: keyof typeof ROWS | 'global';
  readonly id: string | null;
  /** `scope` for `scope_type` and `scope_id`. */
  readonly fields: 'scope' | 'target';
}

/** Its id as stored, kept from being deleted until commit; 400 when it cannot be limited. */
export async function heldResource(
  tx: Transaction<Database>,
  organizationId: string,
  { type, id, fields }: NamedResource,
): Promise<string | null> {
  const param = `${fields}_id`;
  if (type === 'global') {
    if (id === null) return null;
    throw invalidField(
      param,
      `${param} must be null or left out when ${fields}_type is "global": the policy applies to every request.`,
    );
  }
  // `model` is the word of the specification for what is an endpoint everywhere else.
  const kind = type === 'model' ? 'endpoint' : type;
  if (id === null) {
    throw invalidField(param, `${param} must name the ${kind} to limit when ${fields}_type is "${type}".`);
  }
  // Which table it is does not matter any more: an id is all that is asked of the row.
  const rows = ROWS[type] as typeof laneRows;
  return (await heldReference(tx, rows, organizationId, { param, kind, id })).id;
}
