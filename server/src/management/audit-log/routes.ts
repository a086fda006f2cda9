import type { AuditQuery } from '@relay/contract';
import { demandStorableText } from '../../domain/storable-fields.ts';
import type { Handlers } from '../../http/call.ts';
import { cursorOfIds, idOfCursor } from '../resources/cursor.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { isId } from '../resources/refusals.ts';
import { TIME_MS_MAX, timeOf } from '../resources/time-param.ts';
import { type EntrySearch, entriesQuery } from './queries.ts';
import { toAuditEntry } from './wire.ts';

const PAGE_DEFAULT = 50;

/** The log grows without bound, so every response is a page. */
export function auditLogHandlers(deps: Pick<ManagementDeps, 'ofOrganization'>): Handlers {
  return {
    async listAuditLog(call) {
      const { organizationId } = call.caller;
      const limit = call.query.limit ?? PAGE_DEFAULT;
      const search = searchOf(organizationId, call.query, limit + 1);
      // Text that is not an ID matches no entry.
      const nobody = search.actorId !== undefined && !isId(search.actorId);
      const found = nobody ? [] : await entriesQuery(deps.ofOrganization(organizationId), search).execute();
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      const next_cursor = last === undefined ? null : cursorOfIds(listOf(organizationId), last.id);
      return { data: page.map(toAuditEntry), next_cursor };
    },
  };
}

function searchOf(organizationId: string, query: AuditQuery, limit: number): EntrySearch {
  return {
    organizationId,
    actorId: query.actor_id,
    action: storable('action', query.action),
    targetType: storable('target_type', query.target_type),
    targetId: storable('target_id', query.target_id),
    fromMs: timeOf('from', query.from) ?? 0,
    toMs: timeOf('to', query.to) ?? TIME_MS_MAX,
    beforeId: query.cursor === undefined ? undefined : idOfCursor(listOf(organizationId), query.cursor),
    limit,
  };
}

function listOf(organizationId: string) {
  return { route: 'listAuditLog', organizationId } as const;
}

function storable(param: string, text: string | undefined): string | undefined {
  if (text !== undefined) demandStorableText(param, text);
  return text;
}
