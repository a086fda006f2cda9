import { wordOf } from './list-search.ts';

/** What requests are narrowed by, as the address names it. */
export const requestFilterNames = [
  'state',
  'operation',
  'model',
  'lane',
  'endpoint',
  'provider',
  'key',
  'user',
  'error',
] as const;
export type RequestFilterName = (typeof requestFilterNames)[number];
export type RequestFilters = { readonly [Name in RequestFilterName]?: string };

export interface RequestSearch extends RequestFilters {
  /** Requests are shown as they end. */
  readonly live?: true;
}

const STATES = ['completed', 'failed', 'cancelled'];
const OPERATIONS = ['chat', 'responses', 'embeddings'];

/** For `validateSearch` of the page: whatever the server would refuse is left out. */
export function requestSearch(search: Record<string, unknown>): RequestSearch {
  const found: { -readonly [Name in RequestFilterName]?: string } = {};
  for (const name of requestFilterNames) {
    const word = wordOf(search[name]);
    if (word !== undefined && isPossible(name, word)) found[name] = word;
  }
  return { ...found, ...(search['live'] === true ? { live: true } : {}) };
}

function isPossible(name: RequestFilterName, word: string): boolean {
  if (name === 'state') return STATES.includes(word);
  if (name === 'operation') return OPERATIONS.includes(word);
  return word.length <= 100;
}

/** The filters alone, in one order, so that the same ones are always told the same way. */
export function filtersIn(search: RequestFilters): RequestFilters {
  return Object.fromEntries(
    requestFilterNames.flatMap((name) => (search[name] === undefined ? [] : [[name, search[name]]])),
  );
}

const ID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/i;

/** The request id in what somebody pasted, such as a line of a log or an error body; null when there is none. */
export function requestIdIn(pasted: string): string | null {
  return ID.exec(pasted)?.[0].toLowerCase() ?? null;
}
