import type { Handlers } from '../../http/call.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { listFound } from '../resources/paging.ts';
import { resourceWrites } from '../resources/write-resource.ts';
import { listBindingsOf } from './queries.ts';
import { guardrailResource, replaceBindings } from './replace-bindings.ts';
import { toBinding } from './wire.ts';

/** Bindings share the entity tag of their guardrail, whose response has their number. */
export function bindingHandlers(deps: ManagementDeps): Handlers {
  const guardrails = resourceWrites(deps, { ...guardrailResource, dependents: [] });
  return {
    async listGuardrailBindings(call) {
      const { organizationId } = call.caller;
      const { id } = await guardrails.read(call, call.params.guardrail_id);
      const db = deps.ofOrganization(organizationId);
      const rows = await listFound(call, 'listGuardrailBindings', (range) =>
        listBindingsOf(db, organizationId, id, range),
      );
      return rows.map(toBinding);
    },
    async replaceGuardrailBindings(call) {
      return (await replaceBindings(deps, call, call.params.guardrail_id, call.body)).map(toBinding);
    },
  };
}
