import type { Deployment } from './deployment.ts';
import { DAY_MS } from './load-rows.ts';
import { ERROR_CODES, modelOf, type Organization } from './population.ts';

const LIMIT = 50;
const PAGES = 100;
const REPEATS = 20;
const VALUES_PER_FILTER = 5;

interface Page {
  readonly data: readonly { readonly request_id: string }[];
  readonly next_cursor: string | null;
}

/** One question as it is asked over HTTP, and what it is counted as. */
export interface Read {
  readonly name:
    | 'summary'
    | 'series_by_model'
    | 'endpoints_day'
    | 'endpoints_30_days'
    | 'lanes_day'
    | 'api_keys_day'
    | 'lanes_series_day'
    | 'api_keys_series_day'
    | 'failures_day'
    | 'failures_30_days'
    | 'requests_first_page'
    | 'requests_hundredth_page';
  readonly path: string;
}

/** Every question that is measured, those for later pages with the cursor that the pages before give. */
export async function makeReads(
  deployment: Deployment,
  organization: Organization,
  range: { readonly fromMs: number; readonly toMs: number },
): Promise<Read[]> {
  const [from, to] = [range.fromMs, range.toMs].map((timeMs) => new Date(timeMs).toISOString());
  const series = new URLSearchParams({ metric: 'cost_micros', group_by: 'model', bucket: 'day' });
  series.set('from', from ?? '');
  series.set('to', to ?? '');
  const days = new URLSearchParams({ bucket: 'day', from: from ?? '', to: to ?? '' });
  const reads: Read[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    reads.push({ name: 'summary', path: '/api/relay/stats/summary' });
    reads.push({ name: 'series_by_model', path: `/api/relay/stats/timeseries?${series.toString()}` });
    for (const what of ['endpoints', 'failures'] as const) {
      reads.push({ name: `${what}_day`, path: `/api/relay/stats/${what}` });
      reads.push({ name: `${what}_30_days`, path: `/api/relay/stats/${what}?${days.toString()}` });
    }
  }
  for (let repeat = 0; repeat < REPEATS; repeat += 1) reads.push(...readsOfRows());
  const walked = new Set<string>();
  for (const filter of filtersOf(organization)) {
    const path = `/api/relay/requests?${new URLSearchParams({ ...filter, limit: String(LIMIT) }).toString()}`;
    reads.push({ name: 'requests_first_page', path });
    // Walking takes a while; the busiest value of each filter, which is its first, has the most pages.
    const kind = Object.keys(filter).join();
    const cursor = walked.has(kind) ? null : await cursorOfPage(deployment, path, PAGES);
    walked.add(kind);
    if (cursor === null) continue;
    const later = `${path}&cursor=${encodeURIComponent(cursor)}`;
    for (let repeat = 0; repeat < VALUES_PER_FILTER; repeat += 1)
      reads.push({ name: 'requests_hundredth_page', path: later });
  }
  return reads;
}

/** All lanes and keys, and beside each the series of one figure, of which a page would need several. */
function readsOfRows(): Read[] {
  const series = (group: string) =>
    `/api/relay/stats/timeseries?${new URLSearchParams({ metric: 'wait_ms_p95', group_by: group }).toString()}`;
  return [
    { name: 'lanes_day', path: '/api/relay/stats/lanes' },
    { name: 'lanes_series_day', path: series('lane') },
    { name: 'api_keys_day', path: '/api/relay/stats/api-keys' },
    { name: 'api_keys_series_day', path: series('api_key') },
  ];
}

/** Each filter with the busiest, the quietest and some values between, and one that no request has. */
function filtersOf(organization: Organization): Record<string, string>[] {
  const { users, keys, endpoints, lanes, providers } = organization;
  const values: Record<string, readonly string[]> = {
    user_uuid: users,
    api_key_id: keys,
    endpoint_id: endpoints,
    lane_id: lanes,
    provider_id: providers,
    model: lanes.map((_, lane) => modelOf(lane)),
    state: ['completed', 'failed', 'cancelled'],
    error_code: ERROR_CODES,
  };
  const filters: Record<string, string>[] = [{}];
  for (const [name, all] of Object.entries(values)) {
    const step = Math.max(1, (all.length - 1) / (VALUES_PER_FILTER - 1));
    for (let place = 0; place <= all.length - 1; place += step)
      filters.push({ [name]: all[Math.round(place)] ?? '' });
  }
  filters.push({ model: 'asked for by nobody' }, { error_code: 'met_by_nobody' });
  return filters;
}

/** The cursor that leads to a page, or to the last but one that there is; null when there is only one. */
async function cursorOfPage(deployment: Deployment, path: string, page: number): Promise<string | null> {
  let cursor: string | null = null;
  for (let number = 1; number < page; number += 1) {
    const next: Page = await deployment.get(
      cursor === null ? path : `${path}&cursor=${encodeURIComponent(cursor)}`,
    );
    if (next.next_cursor === null) break;
    cursor = next.next_cursor;
  }
  return cursor;
}

/** Milliseconds within which all but one in twenty are answered, over HTTP, by kind. */
export async function measureReads(
  deployment: Deployment,
  reads: readonly Read[],
): Promise<Record<string, number>> {
  const times = new Map<string, number[]>();
  // The first round is for caches and plans, as after a start.
  for (const measured of [false, true, true, true]) {
    for (const { name, path } of reads) {
      const startMs = performance.now();
      await deployment.get(path);
      if (measured) times.set(name, [...(times.get(name) ?? []), performance.now() - startMs]);
    }
  }
  return Object.fromEntries([...times].map(([name, taken]) => [name, p95(taken)]));
}

function p95(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Number((sorted[Math.ceil(0.95 * sorted.length) - 1] ?? 0).toFixed(1));
}

export const RANGE_DAYS = 30;

/** Whole days of which the last is still going on. */
export function rangeUntil(todayMs: number): { fromMs: number; toMs: number } {
  return { fromMs: todayMs - (RANGE_DAYS - 1) * DAY_MS, toMs: todayMs + DAY_MS };
}
