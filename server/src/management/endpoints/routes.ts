import type { Endpoint, EndpointCreate, EndpointUpdate } from '@relay/contract';
import type { Transaction } from 'kysely';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { Handlers } from '../../http/call.ts';
import { providerPresetOf } from '../../protocols/provider-presets.ts';
import type { Database, tables } from '../../store/postgres/schema.ts';
import { endpointFields, type HealthDeps, readHealth } from '../endpoint-health.ts';
import { defaultPrices } from '../pricing-policies/default-price.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { heldReference } from '../resources/reference.ts';
import { conflict, invalidField, listNames } from '../resources/refusals.ts';
import type { Row } from '../resources/rows.ts';
import { insertSlugged } from '../resources/slugged-insert.ts';
import type { ResourceWrites } from '../resources/write-resource.ts';
import { laneNamesWith } from './queries.ts';
import { INTEGER_MAX, toEndpoint } from './wire.ts';

export function endpointHandlers(
  deps: ManagementDeps,
  writes: ResourceWrites<typeof tables.endpoints>,
): Handlers {
  const prices = defaultPrices(deps);
  const toWire = (row: Row<'endpoints'>) => toOneEndpoint(deps, row);

  return {
    async listEndpoints(call) {
      const rows = await writes.list(call, 'listEndpoints');
      const ids = rows.map(({ id }) => id);
      const healthOf = await readHealth(deps, call.caller.organizationId, ids);
      return rows.map((row) => toEndpoint(row, endpointFields(healthOf(row.id))));
    },
    getEndpoint: async (call) => toWire(await writes.read(call, call.params.endpoint_id)),
    async createEndpoint(call) {
      const { body } = call;
      demandStorable(body, INTEGER_MAX);
      const row = await writes.create(call, async (writing, id) => {
        const { tx, organizationId } = writing;
        const provider = await heldReference(tx, 'providers', organizationId, {
          param: 'provider_id',
          kind: 'provider',
          id: body.provider_id,
        });
        await demandCredentialOf(tx, provider, body.credential_id);
        const named = { name: body.name, fallback: 'endpoint' };
        const endpoint = await insertSlugged(tx, writes.rows, organizationId, named, (slug) => ({
          ...settingsOf(body),
          protocol: body.protocol ?? providerPresetOf(provider.preset_slug)?.protocol,
          id,
          name: body.name,
          slug,
          provider_id: provider.id,
          upstream_model: body.upstream_model,
          route_kind: body.route_kind,
        }));
        await prices.create(writing, endpoint);
        return endpoint;
      });
      return toWire(row);
    },
    async updateEndpoint(call) {
      const { body } = call;
      demandStorable(body, INTEGER_MAX);
      const row = await writes.update(call, call.params.endpoint_id, async (writing, before) => {
        const provider = { id: before.provider_id, organization_id: before.organization_id };
        await demandCredentialOf(writing.tx, provider, body.credential_id);
        const { upstream_model = before.upstream_model, route_kind = before.route_kind } = body;
        if (upstream_model !== before.upstream_model)
          await prices.follow(writing, before, { upstream_model, route_kind });
        return {
          ...settingsOf(body),
          name: body.name,
          upstream_model: body.upstream_model,
          route_kind: body.route_kind,
        };
      });
      return toWire(row);
    },
    deleteEndpoint: (call) =>
      writes.remove(call, call.params.endpoint_id, ({ tx }, before) => demandInNoLane(tx, before)),
  };
}

async function demandInNoLane(tx: Transaction<Database>, row: Row<'endpoints'>): Promise<void> {
  const names = await laneNamesWith(tx, row.organization_id, row.id);
  if (names.length === 0) return;
  throw conflict(
    'endpoint_id',
    `The endpoint is still used by ${names.length === 1 ? 'lane' : 'lanes'} ${listNames(names)}. Remove it from every lane first.`,
  );
}

export async function toOneEndpoint(deps: HealthDeps, row: Row<'endpoints'>): Promise<Endpoint> {
  const healthOf = await readHealth(deps, row.organization_id, [row.id]);
  return toEndpoint(row, endpointFields(healthOf(row.id)));
}

/** The columns that a create and an update may both set. */
function settingsOf(body: EndpointCreate | EndpointUpdate) {
  return {
    credential_id: body.credential_id,
    protocol: body.protocol,
    supports_streaming: body.supports_streaming,
    pacing: body.pacing,
    max_concurrency: body.max_concurrency,
    context_window: body.context_window,
    max_latency_ms: body.max_latency_ms,
    enabled: body.enabled,
  };
}

/**
 * An endpoint may only name a credential of its own provider: a secret is sent only to the origin it was
 * entered for.
 */
async function demandCredentialOf(
  tx: Transaction<Database>,
  provider: { readonly id: string; readonly organization_id: string },
  credentialId: string | null | undefined,
): Promise<void> {
  if (credentialId === null || credentialId === undefined) return;
  const credential = await heldReference(tx, 'credentials', provider.organization_id, {
    param: 'credential_id',
    kind: 'credential',
    id: credentialId,
  });
  if (credential.provider_id === provider.id) return;
  throw invalidField(
    'credential_id',
    'credential_id belongs to another provider. Use a credential of the endpoint’s own provider, or null.',
  );
}
