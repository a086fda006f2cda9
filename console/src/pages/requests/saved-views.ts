import { filtersIn, type RequestFilters, requestSearch } from '../../address/request-search.ts';
import { isObject } from '../../format/values.ts';
import { type TimeRangeSearch, timeRangeSearch } from '../../time-range/time-range.ts';

/** A named set of filters and a time range. */
export interface SavedView {
  readonly name: string;
  readonly filters: RequestFilters;
  readonly range: TimeRangeSearch;
}

const VIEWS_MAX = 50;

/** The storage key of an organization's views; IDs are valid within one organization. */
export function viewsPlace(organizationId: string): string {
  return `relay.request-views.${organizationId}`;
}

/** The stored views; invalid ones are dropped. */
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

/** Replaces a view of the same name. */
export function withView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  return [view, ...views.filter(({ name }) => name !== view.name)].slice(0, VIEWS_MAX);
}
