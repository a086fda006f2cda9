import type { Transaction } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import { heldReference } from '../resources/reference.ts';
import { invalidField } from '../resources/refusals.ts';

const TABLES = {
  provider: 'providers',
  credential: 'credentials',
  endpoint: 'endpoints',
  model: 'endpoints',
  lane: 'lanes',
} as const;

/** The resource to limit, and the prefix of the two body fields that name it. */
export interface NamedResource {
  readonly type: keyof typeof TABLES | 'global';
  readonly id: string | null;
  /** `scope` stands for the fields `scope_type` and `scope_id`. */
  readonly fields: 'scope' | 'target';
}

/**
 * The stored id of the resource, which cannot be deleted until commit. Throws 400 when it cannot be limited.
 */
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
      `${param} must be null or omitted when ${fields}_type is "global": the limit applies to every request.`,
    );
  }
  // The API's `model` scope is an endpoint.
  const kind = type === 'model' ? 'endpoint' : type;
  if (id === null) {
    throw invalidField(param, `${param} must name the ${kind} to limit when ${fields}_type is "${type}".`);
  }
  return (await heldReference(tx, TABLES[type], organizationId, { param, kind, id })).id;
}
