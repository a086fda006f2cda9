import type { EndpointCreate, EndpointUpdate } from '@relay/contract';
import type { Transaction } from 'kysely';
import type { Handlers } from '../../http/call.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { credentialRows } from '../credentials/queries.ts';
import type { ManagementDeps } from '../deps.ts';
import { endpointHealth } from '../endpoint-health.ts';
import type { Row } from '../owned-rows.ts';
import { listRows } from '../paging.ts';
import { demandRoom } from '../plan-counts.ts';
import { defaultPrices } from '../pricing-policies/default-price.ts';
import { providerRows } from '../providers/queries.ts';
import { heldReference } from '../reference.ts';
import { invalidField } from '../refusals.ts';
import { insertSlugged } from '../slugged-insert.ts';
import { demandStorable } from '../storable-body.ts';
import { resourceWrites } from '../write-resource.ts';
import { endpointRows } from './queries.ts';
import { INTEGER_MAX, toEndpoint } from './wire.ts';

export function endpointHandlers(deps: ManagementDeps): Handlers {
  const writes = resourceWrites(deps, endpointRows, 'endpoint');
  const prices = defaultPrices(deps);
  const toWire = (row: Row<'endpoints'>) => toEndpoint(row, endpointHealth(deps, row.id));

  return {
    async listEndpoints(call) {
      return (await listRows(deps, call, 'listEndpoints', endpointRows)).map(toWire);
    },
    getEndpoint: async (call) => toWire(await writes.read(call, call.params.endpoint_id)),
    async createEndpoint(call) {
      const { body, caller } = call;
      demandStorable(body, INTEGER_MAX);
      const row = await writes.create(call, async (tx, id) => {
        await demandRoom(tx, caller.organizationId, 'endpoints');
        const provider = await heldReference(tx, providerRows, caller.organizationId, {
          param: 'provider_id',
          kind: 'provider',
          id: body.provider_id,
        });
        await demandCredentialOf(tx, provider, body.credential_id);
        const endpoint = await insertSlugged(tx, endpointRows, caller.organizationId, {
          name: body.name,
          fallback: 'endpoint',
          row: {
            ...settingsOf(body),
            id,
            provider_id: provider.id,
            upstream_model: body.upstream_model,
            route_kind: body.route_kind,
          },
        });
        await prices.create(tx, call, endpoint);
        return endpoint;
      });
      return toWire(row);
    },
    async updateEndpoint(call) {
      const { body } = call;
      demandStorable(body, INTEGER_MAX);
      const row = await writes.update(call, call.params.endpoint_id, async (tx, before) => {
        const provider = { id: before.provider_id, organization_id: before.organization_id };
        await demandCredentialOf(tx, provider, body.credential_id);
        const { upstream_model = before.upstream_model, route_kind = before.route_kind } = body;
        if (upstream_model !== before.upstream_model)
          await prices.follow(tx, call, before, { upstream_model, route_kind });
        return {
          ...settingsOf(body),
          name: body.name,
          upstream_model: body.upstream_model,
          route_kind: body.route_kind,
        };
      });
      return toWire(row);
    },
    deleteEndpoint: (call) => writes.remove(call, call.params.endpoint_id),
  };
}

/** The columns that a create and an update may both set. */
function settingsOf(body: EndpointCreate | EndpointUpdate) {
  return {
    credential_id: body.credential_id,
    supports_streaming: body.supports_streaming,
    pacing: body.pacing,
    max_concurrency: body.max_concurrency,
    context_window: body.context_window,
    max_latency_ms: body.max_latency_ms,
    enabled: body.enabled,
  };
}

/** A credential is bound to its provider, and with it to one origin: no other provider's endpoint may name it. */
async function demandCredentialOf(
  tx: Transaction<Database>,
  provider: { readonly id: string; readonly organization_id: string },
  credentialId: string | null | undefined,
): Promise<void> {
  if (credentialId === null || credentialId === undefined) return;
  const credential = await heldReference(tx, credentialRows, provider.organization_id, {
    param: 'credential_id',
    kind: 'credential',
    id: credentialId,
  });
  if (credential.provider_id === provider.id) return;
  throw invalidField(
    'credential_id',
    'credential_id names a credential of another provider. Use one of the endpoint’s own provider, or null.',
  );
}
