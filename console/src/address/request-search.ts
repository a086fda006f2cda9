import { guardrailVerdicts, operations, requestStates } from '@relay/contract/words';
import { wordOf } from './list-search.ts';

const textNames = [
  'state',
  'operation',
  'model',
  'lane',
  'endpoint',
  'provider',
  'key',
  'user',
  'error',
  'guardrail',
  'verdict',
] as const;
/** What a request did or did not do. The router writes these without quotes: `waited=true`. */
const factNames = ['waited', 'fell_back'] as const;
type TextName = (typeof textNames)[number];
type FactName = (typeof factNames)[number];

/** The filters of the request log, as URL parameters. */
export const requestFilterNames = [...textNames, ...factNames] as const;
export type RequestFilterName = TextName | FactName;
export type RequestFilters = { readonly [Name in TextName]?: string } & {
  readonly [Name in FactName]?: boolean;
};
/** Filters to set; undefined removes one. */
export type FilterChange = { readonly [Name in RequestFilterName]?: RequestFilters[Name] | undefined };

export type RequestSearch = RequestFilters & {
  /** The live tail is on. */
  readonly live?: true;
};

/** For the route's `validateSearch`: drops values that the server would reject. */
export function requestSearch(search: Record<string, unknown>): RequestSearch {
  const found: { -readonly [Name in RequestFilterName]?: RequestFilters[Name] } = {};
  for (const name of textNames) {
    const word = wordOf(search[name]);
    if (word !== undefined && isPossible(name, word)) found[name] = word;
  }
  for (const name of factNames) {
    const word = wordOf(search[name]);
    if (word === 'true' || word === 'false') found[name] = word === 'true';
  }
  return { ...found, ...(search['live'] === true ? { live: true } : {}) };
}

function isPossible(name: TextName, word: string): boolean {
  if (name === 'state') return isOne(requestStates, word);
  if (name === 'operation') return isOne(operations, word);
  if (name === 'verdict') return isOne(guardrailVerdicts, word);
  return word.length <= 100;
}

function isOne(list: readonly string[], word: string): boolean {
  return list.includes(word);
}

/** The filters in a fixed order, so that equal filters serialize equally. */
export function filtersIn(search: RequestFilters): RequestFilters {
  return Object.fromEntries(
    requestFilterNames.flatMap((name) => (search[name] === undefined ? [] : [[name, search[name]]])),
  );
}

const ID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/i;

/** The request ID in pasted text, such as a log line or an error body; null when there is none. */
export function requestIdIn(pasted: string): string | null {
  return ID.exec(pasted)?.[0].toLowerCase() ?? null;
}
