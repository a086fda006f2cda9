import { oneOf } from '../format/values.ts';
import { wordOf } from './list-search.ts';

export const showbackGroups = ['team', 'key', 'member', 'model', 'label'] as const;
export type ShowbackGroup = (typeof showbackGroups)[number];

const LABEL_NAME = /^[a-z0-9_.-]{1,32}$/;

/** The URL parameters of the showback page, besides the time range. The default is by team. */
export interface ShowbackSearch {
  readonly by?: ShowbackGroup;
  readonly label?: string;
}

export function showbackSearch(search: Record<string, unknown>): ShowbackSearch {
  const by = oneOf(showbackGroups, search['by']);
  const label = wordOf(search['label']);
  return {
    ...(by === undefined || by === 'team' ? {} : { by }),
    ...(label !== undefined && LABEL_NAME.test(label) ? { label } : {}),
  };
}
