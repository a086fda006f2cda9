import { AccountUpdate, headers, PreferencesUpdate, type Schema, type User } from '@relay/contract';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { Handlers } from '../../http/call.ts';
import { appendAudit } from '../../store/configuration/audit-log.ts';
import { actorOf } from '../resources/audited-row.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { demandMatch, entityTag } from '../resources/entity-tag.ts';
import { notFound } from '../resources/refusals.ts';
import { changedFields } from '../resources/repeated-fields.ts';
import type { UpdateCall } from '../resources/write-resource.ts';
import { findAccount, lockUser, type UserRow, updateUser } from './queries.ts';
import { toUser } from './wire.ts';

type AccountDeps = Pick<ManagementDeps, 'ofOrganization' | 'newId'>;

/**
 * The caller's account. A deployment token acts for the implicit owner, who is an ordinary user, so these routes
 * are the same in every mode. The entity tag is the user's, because an update changes the user.
 */
export function accountHandlers(deps: AccountDeps): Handlers {
  async function change(
    call: UpdateCall & { readonly body: Partial<User> },
    body: Schema,
  ): Promise<{ user: User }> {
    const { caller } = call;
    const row = await deps
      .ofOrganization(caller.organizationId)
      .transaction()
      .execute(async (tx) => {
        const before = await lockUser(tx, caller.organizationId, caller.userId);
        if (before === undefined) throw notFound('account');
        demandMatch(call.header, before);
        const patch = changedFields(body, call.body, toUser(before));
        if (Object.keys(patch).length === 0) return before;
        const after = await updateUser(tx, before, patch);
        await appendAudit(tx, {
          id: deps.newId(),
          organizationId: caller.organizationId,
          actor: actorOf(caller),
          requestId: call.requestId,
          action: 'account.update',
          targetType: 'account',
          targetId: after.id,
          before: audited(before),
          after: audited(after),
        });
        return after;
      });
    call.setHeader(headers.etag, entityTag(row));
    return { user: toUser(row) };
  }

  return {
    async getAccount(call) {
      const { organizationId, userId } = call.caller;
      const row = await findAccount(deps.ofOrganization(organizationId), organizationId, userId);
      if (row === undefined) throw notFound('account');
      call.setHeader(headers.etag, entityTag(row));
      return {
        user: toUser(row),
        org: { id: organizationId, name: row.organization_name },
        role: row.role,
      };
    },
    async updateAccount(call) {
      demandStorable({ name: call.body.name });
      return change(call, AccountUpdate);
    },
    updatePreferences: async (call) => change(call, PreferencesUpdate),
  };
}

/** The fields that these routes can change. No other personal data: the audit log outlives the account. */
function audited(row: UserRow): object {
  return { name: row.name, marketing_opt_in: row.marketing_opt_in };
}
