import type { Caller } from '../../domain/caller.ts';
import { demandStorableText } from '../../domain/storable-fields.ts';
import { smallestUuidAt } from '../../kit/uuid-time.ts';
import {
  hasVerdict,
  type LogSearch,
  SCANNED_ROWS_MAX,
  SEARCH_COLUMNS,
  SEARCH_FACTS,
  type SearchColumn,
  type Wanted,
  type WantedVerdict,
} from '../../store/ledger/log/log-search.ts';
import type { TailRow } from '../../store/ledger/log/read-tail.ts';
import { type FactColumn, isFact } from '../../store/ledger/request-facts.ts';
import { isId } from '../resources/refusals.ts';
import { TIME_MS_MAX, timeOf } from '../resources/time-param.ts';

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
  readonly waited?: boolean;
  readonly fell_back?: boolean;
  readonly guardrail_id?: string;
  readonly guardrail_verdict?: NonNullable<WantedVerdict['verdict']>;
}

const ID_COLUMNS: readonly SearchColumn[] = ['key_id', 'user_id', 'lane_id', 'endpoint_id', 'provider_id'];

/** The only user whose requests the caller may see: its own; undefined when it may see all. */
export function visibleUser({ scopes, userId }: Caller): string | undefined {
  return scopes.has('relay:usage:read:organization') ? undefined : userId;
}

export function searchFor(caller: Caller, filters: RequestFilters): LogSearch {
  const own = visibleUser(caller);
  const wanted: Wanted = {};
  const want = (column: SearchColumn, value: string | undefined) => {
    // PostgreSQL returns UUIDs in lower case, and the tail compares them as text.
    if (value !== undefined) wanted[column] = ID_COLUMNS.includes(column) ? value.toLowerCase() : value;
  };
  want('state', filters.state);
  want('operation', filters.operation);
  want('model', storable('model', filters.model));
  // The error code has an index, which a verdict lacks.
  const implied = filters.guardrail_verdict === 'blocked' ? 'content_policy_violation' : undefined;
  want('error_code', storable('error_code', filters.error_code ?? implied));
  want('lane_id', filters.lane_id);
  want('endpoint_id', filters.endpoint_id);
  want('provider_id', filters.provider_id);
  want('key_id', filters.api_key_id);
  want('user_id', filters.user_uuid ?? own);
  for (const fact of SEARCH_FACTS) if (filters[fact] !== undefined) wanted[fact] = filters[fact];
  const guardrailId = filters.guardrail_id?.toLowerCase();
  const verdict = filters.guardrail_verdict;
  if (guardrailId !== undefined || verdict !== undefined)
    wanted.guardrail = {
      ...(guardrailId !== undefined && { guardrail_id: guardrailId }),
      ...(verdict !== undefined && { verdict }),
    };
  const foreign = own !== undefined && wanted.user_id !== own;
  const ids = [...ID_COLUMNS.flatMap((column) => wanted[column] ?? []), guardrailId ?? []].flat();
  return {
    organizationId: caller.organizationId,
    wanted,
    fromId: smallestUuidAt(timeOf('from', filters.from) ?? 0),
    beforeId: smallestUuidAt(timeOf('to', filters.to) ?? TIME_MS_MAX),
    impossible: foreign || !ids.every(isId),
    scannedRowsMax: SCANNED_ROWS_MAX,
  };
}

/** Whether a row matches the search; the tail filters with this. */
export function isFound(
  search: LogSearch,
  row: Pick<TailRow, SearchColumn | FactColumn | 'request_id' | 'guardrails'>,
): boolean {
  if (search.impossible || row.request_id < search.fromId || row.request_id >= search.beforeId) return false;
  const { wanted } = search;
  return (
    SEARCH_COLUMNS.every((column) => wanted[column] === undefined || wanted[column] === row[column]) &&
    SEARCH_FACTS.every((fact) => wanted[fact] === undefined || wanted[fact] === isFact(fact, row)) &&
    (wanted.guardrail === undefined || hasVerdict(row.guardrails, wanted.guardrail))
  );
}

function storable(param: string, text: string | undefined): string | undefined {
  if (text !== undefined) demandStorableText(param, text);
  return text;
}
