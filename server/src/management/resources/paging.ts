import { headers, type RouteId, type RouteQuery, routes } from '@relay/contract';
import type { Caller } from '../../domain/caller.ts';
import type { RelayError } from '../../domain/relay-error.ts';
import { invalidField, isId } from './refusals.ts';
import type { RowRange } from './rows.ts';

interface Paged {
  readonly limit?: number;
  readonly cursor?: string;
}

/** Every route that answers a list in pages. */
export type ListRoute = {
  [I in RouteId]: RouteQuery<I> extends Paged | undefined
    ? RouteQuery<I> extends undefined
      ? never
      : I
    : never;
}[RouteId];

export interface ListCall {
  readonly caller: Caller;
  readonly query: Paged;
  readonly setHeader: (name: string, value: string) => void;
  /** Of a list below one resource: what its path names. */
  readonly params?: Readonly<Record<string, string>> | undefined;
}

/**
 * What a list call asks for of what `find` answers in the order of ids: everything without `limit`, else one page and
 * the headers that lead to the next. The position is the last id seen, so that rows that come or go neither repeat nor
 * hide another.
 */
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
