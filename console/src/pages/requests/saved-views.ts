import { filtersIn, type RequestFilters, requestSearch } from '../../address/request-search.ts';
import { isObject } from '../../format/values.ts';
import { type TimeRangeSearch, timeRangeSearch } from '../../time-range/time-range.ts';

/** Filters and a time range under a name. */
export interface SavedView {
  readonly name: string;
  readonly filters: RequestFilters;
  readonly range: TimeRangeSearch;
}

const VIEWS_MAX = 50;

/** Where an organization's views are kept in the browser's storage: ids of one say nothing to another. */
export function viewsPlace(organizationId: string): string {
  return `relay.request-views.${organizationId}`;
}

/** What was stored, as far as it can still be understood. */
export function viewsIn(stored: string | null): readonly SavedView[] {
  try {
    const list: unknown = JSON.parse(stored ?? '[]');
    if (!Array.isArray(list)) return [];
    return list.flatMap((each: unknown) =>
      isObject(each) && typeof each['name'] === 'string' ? [viewOf(each['name'], each)] : [],
    );
  } catch {
    return [];
  }
}

function viewOf(name: string, stored: Readonly<Record<string, unknown>>): SavedView {
  const part = (key: string) => (isObject(stored[key]) ? stored[key] : {});
  return { name, filters: filtersIn(requestSearch(part('filters'))), range: timeRangeSearch(part('range')) };
}

/** A view of the same name makes way for the new one. */
export function withView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  return [view, ...views.filter(({ name }) => name !== view.name)].slice(0, VIEWS_MAX);
}
