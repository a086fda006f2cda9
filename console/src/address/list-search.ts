/** What the address of a list says: what is searched for, and which row is open. */
export interface ListSearch {
  readonly q?: string;
  readonly open?: string;
}

export function listSearch(search: Record<string, unknown>): ListSearch {
  const q = wordOf(search['q']);
  const open = wordOf(search['open']);
  return { ...(q === undefined ? {} : { q }), ...(open === undefined ? {} : { open }) };
}

export function wordOf(value: unknown): string | undefined {
  // The address may hold a number or `true`, which the router has parsed already.
  const word = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  return typeof word === 'string' && word !== '' ? word : undefined;
}

/** Besides the list: whose keys are shown, one's own without it. */
export interface KeysSearch extends ListSearch {
  readonly view?: 'organization';
}

export function keysSearch(search: Record<string, unknown>): KeysSearch {
  const list = listSearch(search);
  return search['view'] === 'organization' ? { ...list, view: 'organization' } : list;
}
