import { ApiKeyUpdate } from '@relay/contract';
import type { Caller } from '../../domain/caller.ts';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { Handlers } from '../../http/call.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { listFound } from '../resources/paging.ts';
import { changeKey } from './change-key.ts';
import { createKey } from './create-key.ts';
import { demandOwnScopes, grantableScopes } from './grants.ts';
import { type KeyScope, listKeys } from './queries.ts';
import { requestedKey } from './requested-key.ts';
import { revokeKey } from './revoke-key.ts';
import { activeStanding, standingsOf } from './standing.ts';
import { toApiKey } from './wire.ts';

/** Keys of the user that the caller acts for, whichever key or session is calling. A deployment token acts for the implicit owner. */
export function apiKeyHandlers(deps: ManagementDeps): Handlers {
  return {
    async listApiKeys(call) {
      const db = deps.ofOrganization(call.caller.organizationId);
      const scope = ownKeys(call.caller);
      const rows = await listFound(call, 'listApiKeys', (range) => listKeys(db, scope, range));
      const nowMs = deps.clock.nowMs();
      return { api_keys: rows.map((row) => toApiKey(row, nowMs)) };
    },
    async createApiKey(call) {
      const { caller } = call;
      const wanted = requestedKey(call.body, deps.clock.nowMs());
      return createKey(deps, call, wanted, async (tx) => {
        const held = await standingsOf(tx, caller.organizationId, [caller.userId], { hold: true });
        const owner = activeStanding(held, caller);
        demandOwnScopes(caller, owner, wanted.scopes);
        return owner;
      });
    },
    async listApiKeyScopes(call) {
      const { caller } = call;
      const db = deps.ofOrganization(caller.organizationId);
      const found = await standingsOf(db, caller.organizationId, [caller.userId], { hold: false });
      return { scopes: grantableScopes(caller, activeStanding(found, caller)) };
    },
    async renameApiKey(call) {
      demandStorable({ name: call.body.name });
      const change = { body: ApiKeyUpdate, sent: call.body };
      await changeKey(deps, call, ownKeys(call.caller), call.params.api_key_id, change);
      return undefined;
    },
    async revokeApiKey(call) {
      return revokeKey(deps, call, ownKeys(call.caller), call.params.api_key_id);
    },
  };
}

function ownKeys({ organizationId, userId }: Caller): KeyScope {
  return { organizationId, userId };
}
