import { type ListSearch, listSearch } from './list-search.ts';

/** Besides the list: whose keys are shown, one's own without it. */
export interface KeysSearch extends ListSearch {
  readonly view?: 'organization';
}

export function keysSearch(search: Record<string, unknown>): KeysSearch {
  const list = listSearch(search);
  return search['view'] === 'organization' ? { ...list, view: 'organization' } : list;
}
