import { operations } from '@relay/contract/words';
import { oneOf } from '../format/values.ts';
import { wordOf } from './list-search.ts';

/** The URL parameters of the playground: what a link to it chooses. */
export interface PlaygroundSearch {
  readonly model?: string;
  readonly operation?: (typeof operations)[number];
}

export function playgroundSearch(search: Record<string, unknown>): PlaygroundSearch {
  const model = wordOf(search['model']);
  const operation = oneOf(operations, search['operation']);
  return { ...(model === undefined ? {} : { model }), ...(operation === undefined ? {} : { operation }) };
}
