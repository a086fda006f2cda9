import type { Kysely } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import type { Call, Handlers } from '../../http/call.ts';
import { toRequestLogEntry } from '../../store/ledger/log/log-entry.ts';
import { type DetailRow, readRequest } from '../../store/ledger/log/read-log.ts';
import { findPosition, readMoment } from '../../store/ledger/log/read-tail.ts';
import { type Checkpoint, checkpointAfter, checkpointAt } from '../../store/ledger/log/tail-checkpoint.ts';
import { startWalk } from '../../store/ledger/log/walk-log.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { UsageDeps } from '../limits/read-usage.ts';
import { cursorOfIds, idOfCursor } from '../resources/cursor.ts';
import { invalidField, isId, notFound } from '../resources/refusals.ts';
import { boundPolicies } from './bound-policies.ts';
import { readCostLines } from './cost-lines.ts';
import { csvOf } from './csv.ts';
import { readEndpointNames } from './endpoint-names.ts';
import { eventsOf } from './events.ts';
import { readPage } from './read-page.ts';
import { readRequestLimits } from './request-limits.ts';
import { isFound, searchFor, visibleUser } from './search.ts';
import { createStreamSlots } from './stream-slots.ts';
import { createTail } from './tail.ts';
import { endpointIdsOf, toRequestDetail } from './wire.ts';

const PAGE_DEFAULT = 50;
const TICK_MS = 500;
const HEARTBEAT_MS = 15_000;
const STREAM_BOUNDS = { perProcessMax: 100, perCallerMax: 10 };
/** Resuming reads all rows recorded since, so a client that was away for longer must start over. */
const RESUMED_WITHIN_MS = 3_600_000;

export function requestHandlers(deps: UsageDeps): Handlers {
  const slots = createStreamSlots(STREAM_BOUNDS);
  const tail = createTail({
    ofOrganization: (organizationId) => deps.ofOrganization(organizationId),
    tickMs: TICK_MS,
    heartbeatMs: HEARTBEAT_MS,
  });
  return {
    async listRequests({ caller, query }) {
      const { organizationId } = caller;
      const search = searchFor(caller, query);
      const list = { route: 'listRequests', organizationId } as const;
      const belowId = query.cursor === undefined ? null : idOfCursor(list, query.cursor);
      const walk = walkBelow(deps, search, belowId);
      const page = await readPage(walk, query.limit ?? PAGE_DEFAULT);
      return {
        data: page.rows.map(toRequestLogEntry),
        next_cursor: page.belowId === null ? null : cursorOfIds(list, page.belowId),
      };
    },
    async getRequest({ caller, params }) {
      const { organizationId } = caller;
      const db = deps.ofOrganization(organizationId);
      const row = await visibleRequest(db, caller, params.request_id);
      const [endpointNames, bounds, costLines] = await Promise.all([
        readEndpointNames(db, organizationId, endpointIdsOf(row)),
        boundPolicies(db, caller, [row]),
        readCostLines(db, caller, row),
      ]);
      return toRequestDetail(row, endpointNames, bounds.get(row.request_id) ?? null, costLines);
    },
    async getRequestLimits({ caller, params }) {
      const db = deps.ofOrganization(caller.organizationId);
      return readRequestLimits(deps, caller, await visibleRequest(db, caller, params.request_id));
    },
    async streamRequests(call) {
      const { caller, query, ended } = call;
      const search = searchFor(caller, query);
      slots.take(caller, ended);
      const from = await beginningOf(deps, call);
      call.setHeader('cache-control', 'no-store');
      // Some proxies would buffer the whole response.
      call.setHeader('x-accel-buffering', 'no');
      const { organizationId } = caller;
      const matches = (row: Parameters<typeof isFound>[1]) => isFound(search, row);
      return { chunks: eventsOf(tail.follow({ organizationId, from, matches, ended })) };
    },
    async exportRequests(call) {
      const { caller, query, ended } = call;
      const { before = null } = query;
      if (before !== null && !isId(before)) throw notARequest('before');
      const search = searchFor(caller, query);
      slots.take(caller, ended);
      call.setHeader('cache-control', 'no-store');
      call.setHeader('content-disposition', 'attachment; filename="requests.csv"');
      return { chunks: csvOf(walkBelow(deps, search, before), ended) };
    },
  };
}

/** Throws 404 for what the caller may not see, as for what is not there. */
async function visibleRequest(db: Kysely<Database>, caller: Caller, requestId: string): Promise<DetailRow> {
  if (!isId(requestId)) throw notFound('request');
  const row = await readRequest(db, caller.organizationId, requestId, visibleUser(caller));
  if (row === undefined) throw notFound('request');
  return row;
}

function walkBelow(deps: UsageDeps, search: ReturnType<typeof searchFor>, belowId: string | null) {
  const { organizationId, beforeId } = search;
  const narrowed = belowId !== null && belowId < beforeId ? { ...search, beforeId: belowId } : search;
  return startWalk(deps.ofOrganization(organizationId), narrowed, deps.clock.nowMs());
}

/** The start of a tail: after the last request that the client saw, otherwise now. */
async function beginningOf(deps: UsageDeps, call: Call<'streamRequests'>): Promise<Checkpoint> {
  const { caller, query } = call;
  const { organizationId } = caller;
  const db = deps.ofOrganization(organizationId);
  const header = call.header('last-event-id');
  const [param, lastSeen] =
    header === undefined || header === '' ? ['after', query.after] : ['last-event-id', header];
  if (lastSeen === undefined) return checkpointAt(await readMoment(db));
  if (!isId(lastSeen)) throw notARequest(param);
  const found = await findPosition(db, organizationId, lastSeen, visibleUser(caller));
  if (found === undefined) throw notARequest(param);
  if (found.moment.atMs - found.settledAtMs > RESUMED_WITHIN_MS) {
    throw invalidField(
      param,
      `${param} names a request that was recorded more than an hour ago, and a live tail can’t go back further. Connect without it, and read the requests that you missed with GET /api/relay/requests.`,
    );
  }
  return checkpointAfter(found, found.settledAtMs);
}

function notARequest(param: string) {
  return invalidField(
    param,
    `${param}: request not found, or you have no access to it. Send a request ID from the list or the live tail, or omit it.`,
  );
}
