import { DEPLOYMENT_USER_ID, type OrgApiKeyCreate, OrgApiKeyUpdate, type Scope } from '@relay/contract';
import type { Transaction } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Handlers } from '../../http/call.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { changeKey } from '../api-keys/change-key.ts';
import { createKey } from '../api-keys/create-key.ts';
import { demandDelegation, demandOwnScopes, demandScopesOfMember } from '../api-keys/grants.ts';
import { type KeyScope, listKeys } from '../api-keys/queries.ts';
import { requestedKey } from '../api-keys/requested-key.ts';
import { revokeKey } from '../api-keys/revoke-key.ts';
import { activeStanding, type Standing, standingsOf } from '../api-keys/standing.ts';
import { toApiKey } from '../api-keys/wire.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { listFound } from '../resources/paging.ts';
import { invalidField, isId, unknownReference } from '../resources/refusals.ts';

/** The page size without `limit`: a large organization's keys do not fit in one response. */
const KEYS_PER_PAGE = 1_000;

/** Keys of all members, for administrators of the organization. */
export function orgApiKeyHandlers(deps: ManagementDeps): Handlers {
  return {
    async listOrgApiKeys(call) {
      const { caller, setHeader } = call;
      const db = deps.ofOrganization(caller.organizationId);
      const paged = { caller, setHeader, query: { ...call.query, limit: call.query.limit ?? KEYS_PER_PAGE } };
      const rows = await listFound(paged, 'listOrgApiKeys', (range) => listKeys(db, everyKey(caller), range));
      const nowMs = deps.clock.nowMs();
      return rows.map((row) => toApiKey(row, nowMs));
    },
    async createOrgApiKey(call) {
      const wanted = requestedKey(call.body, deps.clock.nowMs());
      return createKey(deps, call, wanted, (tx) => memberFor(tx, call.caller, call.body, wanted.scopes));
    },
    async updateOrgApiKey(call) {
      const change = { body: OrgApiKeyUpdate, sent: call.body };
      const row = await changeKey(deps, call, everyKey(call.caller), call.params.api_key_id, change);
      return toApiKey(row, deps.clock.nowMs());
    },
    async revokeOrgApiKey(call) {
      return revokeKey(deps, call, everyKey(call.caller), call.params.api_key_id);
    },
  };
}

function everyKey({ organizationId }: Caller): KeyScope {
  return { organizationId, userId: undefined };
}

/** Finds the owner of the new key. Rejects scopes that the owner or the creator does not have. */
async function memberFor(
  tx: Transaction<Database>,
  caller: Caller,
  { user_uuid }: OrgApiKeyCreate,
  wanted: readonly Scope[],
): Promise<Standing> {
  const userIds = isId(user_uuid) ? [caller.userId, user_uuid] : [caller.userId];
  const held = await standingsOf(tx, caller.organizationId, userIds, { hold: true });
  const creator = activeStanding(held, caller);
  demandDelegation(caller, creator);
  const memberId = user_uuid.toLowerCase();
  const isPerson = memberId !== DEPLOYMENT_USER_ID || memberId === caller.userId;
  const member = isPerson ? held.get(memberId) : undefined;
  if (member === undefined) throw unknownReference('user_uuid', 'member');
  if (!member.active) {
    throw invalidField('user_uuid', 'user_uuid names a member who is suspended. Activate the member first.');
  }
  demandOwnerForOwner(creator, member);
  demandScopesOfMember(member, wanted);
  demandOwnScopes(caller, creator, wanted);
  return member;
}

/** An owner's key acts as an owner, so only owners may create one. */
function demandOwnerForOwner(creator: Standing, member: Standing): void {
  if (member.role !== 'owner' || creator.role === 'owner') return;
  throw new RelayError('permission_denied', {
    message: 'Only an owner can create a key for an owner. Ask the member to create it themselves.',
    param: 'user_uuid',
  });
}
