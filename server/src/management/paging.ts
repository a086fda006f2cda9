import { headers, type RouteId, routes } from '@relay/contract';
import type { Call } from '../http/call.ts';
import type { ManagementDeps } from './deps.ts';
import type { OwnedRows, OwnedTable, Row } from './owned-rows.ts';
import { invalidField, isId } from './refusals.ts';

type ListRoute = Extract<
  RouteId,
  | 'listProviders'
  | 'listCredentials'
  | 'listEndpoints'
  | 'listLanes'
  | 'listMemberships'
  | 'listPricingPolicies'
>;
type ListCall = Pick<Call<ListRoute>, 'caller' | 'query' | 'setHeader'>;

/**
 * The rows a list call asks for: all of them without `limit`, else one page and the headers that lead to the
 * next. The position is the last id seen, so rows that come or go meanwhile never repeat or hide another.
 */
export async function listRows<T extends OwnedTable>(
  deps: Pick<ManagementDeps, 'db'>,
  call: ListCall,
  route: ListRoute,
  rows: OwnedRows<T>,
): Promise<Row<T>[]> {
  const { limit, cursor } = call.query;
  const afterId = cursor === undefined ? undefined : idOfCursor(cursor);
  // One row more than asked for tells whether there is a next page.
  const range = { afterId, limit: limit === undefined ? undefined : limit + 1 };
  const found = await rows.list(deps.db, call.caller.organizationId, range);
  if (limit === undefined || found.length <= limit) return found;
  const page = found.slice(0, limit);
  const next = cursorOfId(page.at(-1)?.id ?? '');
  call.setHeader(headers.nextCursor, next);
  call.setHeader(headers.link, `<${routes[route].path}?limit=${limit}&cursor=${next}>; rel="next"`);
  return page;
}

function cursorOfId(id: string): string {
  return Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
}

function idOfCursor(cursor: string): string {
  const hex = Buffer.from(cursor, 'base64url').toString('hex');
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  if (!isId(id) || cursorOfId(id) !== cursor) {
    throw invalidField(
      'cursor',
      'cursor is not one this list gave out. Send X-Next-Cursor of the page before.',
    );
  }
  return id;
}
