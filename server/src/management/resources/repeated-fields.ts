import { isDeepStrictEqual } from 'node:util';
import { type Schema, serverSetFields, volatileFields } from '@relay/contract';
import type { Kysely } from 'kysely';
import type { Columns, Database } from '../../store/postgres/schema.ts';
import type { ManagementDeps } from './deps.ts';
import { invalidField } from './refusals.ts';
import type { RowOf } from './rows.ts';

/** How a resource is changed by PUT: the schema of the body, and what a GET returns of a row. */
export interface Changeable<C extends Columns> {
  readonly body: Schema;
  /** Reads with `db`, which may be the transaction of the write. */
  wire(deps: ManagementDeps, db: Kysely<Database>, row: RowOf<C>): object | Promise<object>;
}

/**
 * A body may repeat fields that it cannot change, so that what a GET returned can be sent back. Throws 400 for one with
 * another value. Fields that change by themselves are ignored: what was read may be out of date.
 */
export function demandRepeated(body: Schema, sent: object, current: object, path?: string): void {
  for (const field of serverSetFields(body)) {
    const value = fieldOf(sent, field);
    if (value === undefined || volatileFields.has(field)) continue;
    const own = fieldOf(current, field);
    if (isDeepStrictEqual(value, own)) continue;
    const now = own === undefined ? 'not set' : JSON.stringify(own);
    const param = path === undefined ? field : `${path}.${field}`;
    throw invalidField(
      param,
      `This call can’t change ${param}, which is ${now}. Send it unchanged, or omit it.`,
    );
  }
}

/** The fields of a body that differ from what the resource has. Throws for a field with a value that it cannot have. */
export function changedFields<Body extends object>(body: Schema, sent: Body, current: object): Partial<Body> {
  demandRepeated(body, sent, current);
  return changedColumns(current, withoutVolatile(sent));
}

function withoutVolatile<Body extends object>(sent: Body): Partial<Body> {
  const kept = Object.entries(sent).filter(([field]) => !volatileFields.has(field));
  return Object.fromEntries(kept) as Partial<Body>;
}

/** The columns of a patch whose values differ from those of the row. A patch may leave out any column. */
export function changedColumns<Patch extends object>(row: object, patch: Patch): Patch {
  const changed = Object.entries(patch).filter(
    ([column, value]) => value !== undefined && !isDeepStrictEqual(value, fieldOf(row, column)),
  );
  return Object.fromEntries(changed) as Patch;
}

function fieldOf(from: object, field: string): unknown {
  return Object.hasOwn(from, field) ? Reflect.get(from, field) : undefined;
}
