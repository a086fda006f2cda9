import { headers, type RouteId, type RouteQuery, routes } from '@relay/contract';
import type { Caller } from '../../domain/caller.ts';
import { cursorOfIds, idOfCursor } from './cursor.ts';
import type { RowRange } from './rows.ts';

interface Paged {
  readonly limit?: number;
  readonly cursor?: string;
}

/** All routes with pages. */
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
  /** The path parameters of a list below a resource. */
  readonly params?: Readonly<Record<string, string>> | undefined;
}

/**
 * The rows that a list call asks for: all without `limit`, otherwise one page and the headers for the next.
 * Pages continue after the last id, so rows that are added or deleted neither repeat nor hide others. `find`
 * must return rows ordered by id.
 */
export async function listFound<Item extends { readonly id: string }>(
  call: ListCall,
  route: ListRoute,
  find: (range: RowRange) => Promise<Item[]>,
): Promise<Item[]> {
  return onePage(call, route, await find(rangeOf(call, route)));
}

/** What a cursor of this call belongs to. */
function listOf({ caller: { organizationId }, params }: ListCall, route: ListRoute) {
  return { route, organizationId, params };
}

function rangeOf(call: ListCall, route: ListRoute): RowRange {
  const { limit, cursor } = call.query;
  const afterId = cursor === undefined ? undefined : idOfCursor(listOf(call, route), cursor);
  // One row more than requested shows whether there is a next page.
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
  setNextPage(call, route, { limit, cursor: cursorOfIds(listOf(call, route), page.at(-1)?.id ?? '') });
  return page;
}

/** Sets the headers that point to the next page, which has the filters of this one. */
export function setNextPage(
  call: Pick<ListCall, 'setHeader' | 'params'>,
  route: ListRoute,
  { limit, cursor }: Required<Paged>,
  filters: Readonly<Record<string, string>> = {},
): void {
  call.setHeader(headers.nextCursor, cursor);
  const query = new URLSearchParams({ limit: String(limit), cursor, ...filters }).toString();
  const path = routes[route].path.replaceAll(/\{(\w+)\}/g, (_, name: string) => call.params?.[name] ?? '');
  call.setHeader(headers.link, `<${path}?${query}>; rel="next"`);
}
