import type { Caller } from '../../domain/caller.ts';
import { smallestUuidAt } from '../../store/ledger/ledger-partitions.ts';
import { invalidField, isId } from '../refusals.ts';

/** The columns of the ledger that requests are looked for by. */
const COLUMNS = [
  'key_id',
  'user_id',
  'error_code',
  'state',
  'lane_id',
  'endpoint_id',
  'model',
  'provider_id',
  'operation',
] as const;
export type SearchColumn = (typeof COLUMNS)[number];
export type Wanted = Partial<Record<SearchColumn, string>>;

/** Which requests of one organization are looked for; everything that is given has to hold. */
export interface RequestSearch {
  readonly organizationId: string;
  readonly wanted: Wanted;
  /** Arrived no earlier. */
  readonly fromId: string;
  /** Arrived earlier. */
  readonly beforeId: string;
  /** Nothing can match: something that is no id was asked for, or somebody else's traffic. */
  readonly impossible: boolean;
  /** What one statement goes through at most, when no index finds exactly what is wanted. */
  readonly scannedRowsMax: number;
}

/** The filters of every route that reads the log. */
export interface RequestFilters {
  readonly from?: string;
  readonly to?: string;
  readonly state?: string;
  readonly operation?: string;
  readonly model?: string;
  readonly lane_id?: string;
  readonly endpoint_id?: string;
  readonly provider_id?: string;
  readonly api_key_id?: string;
  readonly user_uuid?: string;
  readonly error_code?: string;
}

export const SCANNED_ROWS_MAX = 20_000;
/** The times that a UUIDv7 can carry. */
const TIME_MS_MAX = 2 ** 48 - 1;
const ID_COLUMNS: readonly SearchColumn[] = ['key_id', 'user_id', 'lane_id', 'endpoint_id', 'provider_id'];

/** The one user whose traffic the caller may see: itself; undefined when it may see that of everybody. */
export function visibleUser({ scopes, userId }: Caller): string | undefined {
  return scopes.has('relay:usage:read:organization') ? undefined : userId;
}

export function searchFor(caller: Caller, filters: RequestFilters): RequestSearch {
  const own = visibleUser(caller);
  const wanted: Wanted = {};
  const want = (column: SearchColumn, value: string | undefined) => {
    // PostgreSQL takes ids in either case and answers them in lower case.
    if (value !== undefined) wanted[column] = ID_COLUMNS.includes(column) ? value.toLowerCase() : value;
  };
  want('state', filters.state);
  want('operation', filters.operation);
  want('model', storable('model', filters.model));
  want('error_code', storable('error_code', filters.error_code));
  want('lane_id', filters.lane_id);
  want('endpoint_id', filters.endpoint_id);
  want('provider_id', filters.provider_id);
  want('key_id', filters.api_key_id);
  want('user_id', filters.user_uuid ?? own);
  const foreign = own !== undefined && wanted.user_id !== own;
  const ids = ID_COLUMNS.flatMap((column) => wanted[column] ?? []);
  return {
    organizationId: caller.organizationId,
    wanted,
    fromId: smallestUuidAt(timeOf('from', filters.from) ?? 0),
    beforeId: smallestUuidAt(timeOf('to', filters.to) ?? TIME_MS_MAX),
    impossible: foreign || !ids.every(isId),
    scannedRowsMax: SCANNED_ROWS_MAX,
  };
}

/** The same question, asked of a row that is at hand. */
export function isFound(
  search: RequestSearch,
  row: Readonly<Record<SearchColumn, string | null>> & { readonly request_id: string },
): boolean {
  if (search.impossible || row.request_id < search.fromId || row.request_id >= search.beforeId) return false;
  return COLUMNS.every(
    (column) => search.wanted[column] === undefined || search.wanted[column] === row[column],
  );
}

/**
 * The condition that is likely to leave the fewest rows and has an index in the order of ids; undefined when the index of the
 * organization is the best there is. Completed requests are nearly all, and have none.
 */
export function narrowest(wanted: Wanted): SearchColumn | undefined {
  return COLUMNS.find(
    (column) =>
      wanted[column] !== undefined &&
      column !== 'operation' &&
      !(column === 'state' && wanted.state === 'completed'),
  );
}

function storable(param: string, text: string | undefined): string | undefined {
  if (text?.includes('\0') === true) {
    throw invalidField(param, `${param} must not contain the NUL character.`);
  }
  return text;
}

export function timeOf(param: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const timeMs = Date.parse(text);
  // The schema takes a leap second for a time, and no clock shows it.
  if (Number.isNaN(timeMs))
    throw invalidField(param, `${param} must be a time in UTC, such as 2026-01-31T00:00:00.000Z.`);
  return Math.min(Math.max(timeMs, 0), TIME_MS_MAX);
}
