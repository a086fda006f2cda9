import { headers } from '@relay/contract';
import { appendAudit } from '../../store/configuration/audit-log.ts';
import { actorOf, auditedRow } from '../resources/audited-row.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { demandMatch, entityTag } from '../resources/entity-tag.ts';
import { isId, notFound } from '../resources/refusals.ts';
import { storedTable } from '../resources/rows.ts';
import type { WriteCall } from '../resources/write-resource.ts';
import { type KeyScope, lockKey, updateKey } from './queries.ts';

/** Gateways do not hold names, so the configuration version does not change. */
export async function renameKey(
  deps: Pick<ManagementDeps, 'ofOrganization' | 'newId'>,
  call: WriteCall,
  scope: KeyScope,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<undefined> {
  if (!isId(id)) throw notFound('API key');
  const renamed = await deps
    .ofOrganization(scope.organizationId)
    .transaction()
    .execute(async (tx) => {
      const before = await lockKey(tx, scope, id);
      if (before === undefined) throw notFound('API key');
      demandMatch(call.header, before);
      const after = await updateKey(tx, before, { name });
      await appendAudit(tx, {
        id: deps.newId(),
        organizationId: call.caller.organizationId,
        actor: actorOf(call.caller),
        requestId: call.requestId,
        action: 'api_key.rename',
        targetType: 'api_key',
        targetId: after.id,
        before: auditedRow(storedTable('api_keys'), before),
        after: auditedRow(storedTable('api_keys'), after),
      });
      return after;
    });
  call.setHeader(headers.etag, entityTag(renamed));
  return undefined;
}
