import { headers, type RouteId, routes } from '@relay/contract';
import type { Call } from '../http/call.ts';
import type { ManagementDeps } from './deps.ts';
import type { OwnedRows, OwnedTable, Row, RowRange } from './owned-rows.ts';
import { invalidField, isId } from './refusals.ts';

type ListRoute = Extract<
  RouteId,
  | 'listProviders'
  | 'listCredentials'
  | 'listEndpoints'
  | 'listLanes'
  | 'listMemberships'
  | 'listPricingPolicies'
  | 'listLimitPolicies'
  | 'listLimitUsage'
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
  const found = await rows.list(deps.db, call.caller.organizationId, rangeOf(call));
  return onePage(call, route, found);
}

/** The same of a list that is in memory, in the order of its ids. */
export function listItems<Item extends { readonly id: string }>(
  call: ListCall,
  route: ListRoute,
  items: readonly Item[],
): Item[] {
  const { afterId, limit } = rangeOf(call);
  const after = afterId === undefined ? items : items.filter(({ id }) => id > afterId);
  return onePage(call, route, after.slice(0, limit));
}

function rangeOf(call: ListCall): RowRange {
  const { limit, cursor } = call.query;
  const afterId = cursor === undefined ? undefined : idOfCursor(cursor);
  // One row more than asked for tells whether there is a next page.
  return { afterId, limit: limit === undefined ? undefined : limit + 1 };
}

function onePage<Item extends { readonly id: string }>(
  call: ListCall,
  route: ListRoute,
  found: Item[],
): Item[] {
  const { limit } = call.query;
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
