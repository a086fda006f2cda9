import { headers, OrgUpdate } from '@relay/contract';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { Handlers } from '../../http/call.ts';
import { appendAudit } from '../../store/configuration/audit-log.ts';
import { actorOf } from '../resources/audited-row.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { demandMatch, entityTag } from '../resources/entity-tag.ts';
import { notFound } from '../resources/refusals.ts';
import { changedFields } from '../resources/repeated-fields.ts';

type OrganizationDeps = Pick<ManagementDeps, 'ofOrganization' | 'newId'>;

/**
 * The organization itself. Its name is for people and not part of the configuration that gateways load, so a rename
 * creates no configuration version.
 */
export function organizationHandlers({ ofOrganization, newId }: OrganizationDeps): Handlers {
  return {
    async getOrg({ caller, setHeader }) {
      const row = await ofOrganization(caller.organizationId)
        .selectFrom('organizations')
        .select(['id', 'name', 'version'])
        .where('id', '=', caller.organizationId)
        .executeTakeFirst();
      if (row === undefined) throw notFound('organization');
      setHeader(headers.etag, entityTag(row));
      return { id: row.id, name: row.name };
    },
    async updateOrg({ caller, requestId, body, header, setHeader }) {
      const { name } = body;
      demandStorable({ name });
      const { organizationId: id } = caller;
      const renamed = await ofOrganization(id)
        .transaction()
        .execute(async (tx) => {
          const before = await tx
            .selectFrom('organizations')
            .select(['name', 'version'])
            .where('id', '=', id)
            // Not "for update": every writer holds the organization's key, and then waits for its row with the clock in hand.
            .forNoKeyUpdate()
            .executeTakeFirst();
          if (before === undefined) throw notFound('organization');
          demandMatch(header, before);
          const changed = changedFields(OrgUpdate, body, { id, name: before.name });
          if (Object.keys(changed).length === 0) return before;
          const after = await tx
            .updateTable('organizations')
            .set({ name })
            .where('id', '=', id)
            .returning('version')
            .executeTakeFirstOrThrow();
          await appendAudit(tx, {
            id: newId(),
            organizationId: id,
            actor: actorOf(caller),
            requestId,
            action: 'organization.update',
            targetType: 'organization',
            targetId: id,
            before: { name: before.name },
            after: { name },
          });
          return after;
        });
      setHeader(headers.etag, entityTag(renamed));
      return { id, name };
    },
  };
}
