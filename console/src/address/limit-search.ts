import { type LimitMetric, limitMetrics } from '@relay/contract';
import { type ListSearch, listSearch, wordOf } from './list-search.ts';

const KINDS = ['resource', 'team', 'user', 'api_key'] as const;
const SCOPES = ['global', 'provider', 'credential', 'endpoint', 'model', 'lane'] as const;

/** The URL parameters of the limits page: filters, and the lane whose limits are shown. */
export interface LimitSearch extends ListSearch {
  readonly kind?: (typeof KINDS)[number];
  readonly scope?: (typeof SCOPES)[number];
  readonly metric?: LimitMetric;
  readonly lane?: string;
  /** The key that a new limit is for, while its dialog is open. */
  readonly create?: string;
}

export function limitSearch(search: Record<string, unknown>): LimitSearch {
  const kind = KINDS.find((each) => each === search['kind']);
  const scope = SCOPES.find((each) => each === search['scope']);
  const metric = limitMetrics.find((each) => each === search['metric']);
  const lane = wordOf(search['lane']);
  const create = wordOf(search['create']);
  return {
    ...listSearch(search),
    ...(kind === undefined ? {} : { kind }),
    ...(scope === undefined ? {} : { scope }),
    ...(metric === undefined ? {} : { metric }),
    ...(lane === undefined ? {} : { lane }),
    ...(create === undefined ? {} : { create }),
  };
}
