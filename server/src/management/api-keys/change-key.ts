import { headers, type Schema } from '@relay/contract';
import type { Transaction } from 'kysely';
import { appendAudit } from '../../store/configuration/audit-log.ts';
import { changeAccess } from '../../store/configuration/config-version.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { actorOf, auditedRow } from '../resources/audited-row.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { demandMatch, entityTag } from '../resources/entity-tag.ts';
import { isId, notFound } from '../resources/refusals.ts';
import { changedFields } from '../resources/repeated-fields.ts';
import { storedTable } from '../resources/rows.ts';
import type { WriteCall } from '../resources/write-resource.ts';
import { demandLabels, heldTeam, type WantedAttribution } from './attribution.ts';
import { type KeyRow, type KeyScope, lockKey, updateKey } from './queries.ts';
import { toApiKey } from './wire.ts';

export type ChangeKeyDeps = Pick<ManagementDeps, 'ofOrganization' | 'fences' | 'newId' | 'clock'>;

interface WantedKey extends WantedAttribution {
  readonly name?: string;
}

/** A body, and its schema. */
export interface KeyChange {
  readonly body: Schema;
  readonly sent: WantedKey;
}

/**
 * Gateways do not hold names, so a new name alone does not change the configuration version. Otherwise commits, then fences, then
 * responds: requests that arrive after the response count for the key's new team and labels.
 */
export async function changeKey(
  deps: ChangeKeyDeps,
  call: WriteCall,
  scope: KeyScope,
  id: string,
  change: KeyChange,
): Promise<KeyRow> {
  if (!isId(id)) throw notFound('API key');
  demandLabels(change.sent.labels);
  const { organizationId } = scope;
  const db = deps.ofOrganization(organizationId);
  const write = (tx: Transaction<Database>) => writeKey(deps, tx, call, scope, id, change);
  if (isRename(change.sent)) return tagged(call, await db.transaction().execute(write));
  const { result, version } = await changeAccess(db, organizationId, async (tx) => {
    const row = await write(tx);
    return { result: row, keyIds: [row.id] };
  });
  await deps.fences.raise(organizationId, version);
  return tagged(call, result);
}

function isRename({ team_id, labels }: WantedKey): boolean {
  return team_id === undefined && labels === undefined;
}

function tagged(call: WriteCall, row: KeyRow): KeyRow {
  call.setHeader(headers.etag, entityTag(row));
  return row;
}

async function writeKey(
  deps: ChangeKeyDeps,
  tx: Transaction<Database>,
  call: WriteCall,
  scope: KeyScope,
  id: string,
  { body, sent }: KeyChange,
): Promise<KeyRow> {
  const before = await lockKey(tx, scope, id);
  if (before === undefined) throw notFound('API key');
  demandMatch(call.header, before);
  const wanted = changedFields(body, sent, toApiKey(before, deps.clock.nowMs()));
  if (Object.keys(wanted).length === 0) return before;
  const { name, team_id, labels } = wanted;
  const key = { ownerId: before.user_id, teamId: before.team_id };
  const after = await updateKey(tx, before, {
    ...(name !== undefined && { name }),
    ...(team_id !== undefined && { team_id: await heldTeam(tx, call.caller, key, team_id) }),
    ...(labels !== undefined && { labels }),
  });
  await appendAudit(tx, {
    id: deps.newId(),
    organizationId: scope.organizationId,
    actor: actorOf(call.caller),
    requestId: call.requestId,
    action: isRename(wanted) ? 'api_key.rename' : 'api_key.update',
    targetType: 'api_key',
    targetId: after.id,
    before: auditedRow(storedTable('api_keys'), before),
    after: auditedRow(storedTable('api_keys'), after),
  });
  return after;
}
