import type { ConfigFile, UsageLine } from '@relay/contract';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { type Api, take } from './client.ts';
import { cacheKeys } from './queries.ts';

export interface AuditFilters {
  readonly actor_id?: string;
  readonly action?: string;
  readonly target_type?: string;
  readonly target_id?: string;
}

/** A time span with a stable name, although its end moves with the clock. */
export interface AuditSpan {
  readonly name: string;
  readonly bounds: () => { readonly from: string; readonly to?: string };
}

const AUDIT_PAGE_ROWS = 100;

/** The audit log, newest first, page by page. */
export function auditLogQuery(api: Api, filters: AuditFilters, span: AuditSpan) {
  return infiniteQueryOptions({
    queryKey: [...cacheKeys.auditLog, 'pages', filters, span.name],
    queryFn: ({ pageParam, signal }) => {
      const cursor = pageParam === null ? {} : { cursor: pageParam };
      const query = { ...filters, ...span.bounds(), ...cursor, limit: AUDIT_PAGE_ROWS };
      return take(api.GET('/api/relay/audit-log', { params: { query }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: cursor }) => cursor,
    placeholderData: (before) => before,
  });
}

/** Whether the log has any entry, to tell "nothing yet" from "nothing matches". */
export function auditBegunQuery(api: Api) {
  return queryOptions({
    queryKey: [...cacheKeys.auditLog, 'begun'],
    queryFn: async ({ signal }) => {
      const { data } = await take(
        api.GET('/api/relay/audit-log', { params: { query: { limit: 1 } }, signal }),
      );
      return data.length > 0;
    },
  });
}

const ENTRIES_OF_A_MOMENT_MAX = 1_000;

/** One entry by its ID, for a URL that opens it. The ID starts with the entry's time, which limits the query. */
export function auditEntryQuery(api: Api, id: string) {
  return queryOptions({
    queryKey: [...cacheKeys.auditLog, 'entry', id],
    queryFn: async ({ signal }) => {
      const atMs = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
      if (Number.isNaN(atMs)) return null;
      const [from, to] = [new Date(atMs).toISOString(), new Date(atMs + 1).toISOString()];
      const query = { from, to, limit: ENTRIES_OF_A_MOMENT_MAX };
      const { data } = await take(api.GET('/api/relay/audit-log', { params: { query }, signal }));
      return data.find((entry) => entry.id === id) ?? null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function configExportQuery(api: Api) {
  return queryOptions({
    queryKey: [...cacheKeys.configFile, 'export'],
    queryFn: ({ signal }) => take(api.GET('/api/relay/config/export', { signal })),
  });
}

const EMPTY_FILE: ConfigFile = { version: 1 };

/** The resources the file manages: those that an empty file would orphan. Planning changes nothing. */
export function configOwnedQuery(api: Api) {
  return queryOptions({
    queryKey: [...cacheKeys.configFile, 'owned'],
    queryFn: async ({ signal }) =>
      (await take(api.POST('/api/relay/config/plan', { body: { config: EMPTY_FILE }, signal }))).orphaned,
  });
}

export function billingHistoryQuery(api: Api) {
  return queryOptions({
    queryKey: [...cacheKeys.billing, 'history'],
    queryFn: ({ signal }) => take(api.GET('/api/billing/history', { signal })),
  });
}

const LINES_PAGE_ROWS = 1_000;
const LINES_PAGES_MAX = 50;

/** A month's statement with all lines, one for each user and key with usage. */
export function usageStatementQuery(api: Api, month: string, by: 'user' | 'key') {
  return queryOptions({
    queryKey: [...cacheKeys.billing, 'statement', month, by],
    queryFn: async ({ signal }) => {
      const page = (cursor: string | null) => {
        const query = { month, by, limit: LINES_PAGE_ROWS, ...(cursor === null ? {} : { cursor }) };
        return take(api.GET('/api/billing/usage-statements', { params: { query }, signal }));
      };
      const statement = await page(null);
      const lines: UsageLine[] = [...statement.lines];
      let cursor = statement.next_cursor;
      for (let read = 1; cursor !== null && read < LINES_PAGES_MAX; read += 1) {
        const next = await page(cursor);
        lines.push(...next.lines);
        cursor = next.next_cursor;
      }
      return { ...statement, lines };
    },
  });
}
