/** The URL parameters of a list: the search query and the open row. */
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
  // The router has already parsed numbers and booleans.
  const word = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  return typeof word === 'string' && word !== '' ? word : undefined;
}

/** Which endpoints are shown, by their signal; all when missing. */
export const signalNames = ['healthy', 'attention', 'down'] as const;
export type SignalName = (typeof signalNames)[number];

export interface EndpointsSearch extends ListSearch {
  readonly signal?: SignalName;
}

export function endpointsSearch(search: Record<string, unknown>): EndpointsSearch {
  const signal = signalNames.find((name) => name === search['signal']);
  return { ...listSearch(search), ...(signal === undefined ? {} : { signal }) };
}

/** Which keys are shown: the caller's own, or those that need a decision; all when missing. */
export const keyUses = ['mine', 'unused', 'ending'] as const;
export type KeyUse = (typeof keyUses)[number];

export interface KeysSearch extends ListSearch {
  readonly use?: KeyUse;
}

export function keysSearch(search: Record<string, unknown>): KeysSearch {
  const use = keyUses.find((name) => name === search['use']);
  return { ...listSearch(search), ...(use !== undefined && { use }) };
}
