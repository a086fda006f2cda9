import { appendAudit } from '../../store/configuration/audit-log.ts';
import { changeAccess } from '../../store/configuration/config-version.ts';
import { actorOf, auditedRow } from '../resources/audited-row.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { demandMatch } from '../resources/entity-tag.ts';
import { isId, notFound } from '../resources/refusals.ts';
import { storedTable } from '../resources/rows.ts';
import type { WriteCall } from '../resources/write-resource.ts';
import { findKey, type KeyRow, type KeyScope, lockKey, updateKey } from './queries.ts';

export type RevokeKeyDeps = Pick<ManagementDeps, 'ofOrganization' | 'fences' | 'newId' | 'clock'>;

/**
 * Commits, then fences, then responds: the key authenticates no request that arrives after the response.
 * Repeating a revocation raises the fence again, because the first attempt may have failed before it.
 */
export async function revokeKey(
  deps: RevokeKeyDeps,
  call: WriteCall,
  scope: KeyScope,
  id: string,
): Promise<undefined> {
  const { organizationId } = scope;
  const db = deps.ofOrganization(organizationId);
  const known = isId(id) ? await findKey(db, scope, id) : undefined;
  if (known === undefined) throw notFound('API key');
  const version = known.revoked_at === null ? await commit(deps, call, scope, id) : known.changed_version;
  await deps.fences.raise(organizationId, version);
  return undefined;
}

async function commit(deps: RevokeKeyDeps, call: WriteCall, scope: KeyScope, id: string): Promise<number> {
  const db = deps.ofOrganization(scope.organizationId);
  const { version } = await changeAccess(db, scope.organizationId, async (tx) => {
    const before = await lockKey(tx, scope, id);
    if (before === undefined) throw notFound('API key');
    // A concurrent revocation may have been first; only the first one changes the row and is in the audit log.
    if (before.revoked_at === null) {
      demandMatch(call.header, before);
      const after = await updateKey(tx, before, { revoked_at: new Date(deps.clock.nowMs()) });
      await appendAudit(tx, revocationEntry(deps, call, before, after));
    }
    return { result: undefined, keyIds: [before.id] };
  });
  return version;
}

export function revocationEntry(
  deps: Pick<RevokeKeyDeps, 'newId'>,
  call: WriteCall,
  before: KeyRow,
  after: KeyRow,
) {
  return {
    id: deps.newId(),
    organizationId: call.caller.organizationId,
    actor: actorOf(call.caller),
    requestId: call.requestId,
    action: 'api_key.revoke',
    targetType: 'api_key',
    targetId: after.id,
    before: auditedRow(storedTable('api_keys'), before),
    after: auditedRow(storedTable('api_keys'), after),
  };
}
