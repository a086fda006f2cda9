import { headers, type RouteId, routes } from '@relay/contract';
import type { RelayError } from '../domain/relay-error.ts';
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
  | 'listGuardrails'
  | 'listGuardrailBindings'
  | 'listGuardrailPresets'
  | 'listPricingPolicies'
  | 'listLimitPolicies'
  | 'listLimitUsage'
  | 'listUserLimitPolicies'
  | 'listApiKeyLimitPolicies'
  | 'listApiKeys'
  | 'listOrgApiKeys'
  | 'listMembers'
  | 'listInvitations'
>;
type ListCall = Pick<Call<ListRoute>, 'caller' | 'query' | 'setHeader'> & {
  /** Of a list below one resource: what its path names. */
  readonly params?: Readonly<Record<string, string>> | undefined;
};

/**
 * The rows a list call asks for: all of them without `limit`, else one page and the headers that lead to the
 * next. The position is the last id seen, so rows that come or go meanwhile never repeat or hide another.
 */
export async function listRows<T extends OwnedTable>(
  deps: Pick<ManagementDeps, 'ofOrganization'>,
  call: ListCall,
  route: ListRoute,
  rows: OwnedRows<T>,
): Promise<Row<T>[]> {
  const { organizationId } = call.caller;
  const db = deps.ofOrganization(organizationId);
  return listFound(call, route, (range) => rows.list(db, organizationId, range));
}

/** The same of what a query of the resource's own finds in a range, in the order of its ids. */
export async function listFound<Item extends { readonly id: string }>(
  call: ListCall,
  route: ListRoute,
  find: (range: RowRange) => Promise<Item[]>,
): Promise<Item[]> {
  return onePage(call, route, await find(rangeOf(call)));
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
  setNextPage(call, route, limit, cursorOfId(page.at(-1)?.id ?? ''));
  return page;
}

/** The headers that lead to the page after this one. */
export function setNextPage(
  call: Pick<ListCall, 'setHeader' | 'params'>,
  route: ListRoute,
  limit: number,
  cursor: string,
): void {
  call.setHeader(headers.nextCursor, cursor);
  const path = routes[route].path.replaceAll(/\{(\w+)\}/g, (_, name: string) => call.params?.[name] ?? '');
  call.setHeader(headers.link, `<${path}?limit=${limit}&cursor=${cursor}>; rel="next"`);
}

export function cursorOfId(id: string): string {
  return Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
}

export function idOfCursor(cursor: string): string {
  const hex = Buffer.from(cursor, 'base64url').toString('hex');
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  if (!isId(id) || cursorOfId(id) !== cursor) throw unknownCursor();
  return id;
}

export function unknownCursor(): RelayError {
  return invalidField(
    'cursor',
    'cursor is not one this list gave out. Send X-Next-Cursor of the page before.',
  );
}
