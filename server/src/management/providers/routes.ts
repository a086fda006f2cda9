import type { Provider, ProviderUpdate } from '@relay/contract';
import type { Kysely, Transaction } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { Handlers } from '../../http/call.ts';
import { parseTargetUrl } from '../../kit/egress/target-url.ts';
import { presetSettings, providerPresets } from '../../protocols/provider-presets.ts';
import type { Database, tables } from '../../store/postgres/schema.ts';
import { providerFields, readHealth } from '../endpoint-health.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { listPresets } from '../resources/list-presets.ts';
import { conflict, listNames } from '../resources/refusals.ts';
import type { Patch, Row } from '../resources/rows.ts';
import { insertSlugged } from '../resources/slugged-insert.ts';
import { sameOrigin } from '../resources/upstream-address.ts';
import type { ResourceWrites } from '../resources/write-resource.ts';
import { checkedConnection, demandKnownPreset } from './connection.ts';
import { credentialNamesOf, endpointNamesOf, readProviderUse } from './queries.ts';
import { MAX_LATENCY_MS_DEFAULT, toColumns, toProvider } from './wire.ts';

/** The connection of a provider of which nothing is said. */
const UNCONNECTED = {
  base_url: null,
  auth_mode: 'bearer_static',
  auth_header_name: null,
  aws_region: null,
  aws_service: null,
  extra_headers: null,
  extra_query: null,
} as const;

export function providerHandlers(
  deps: ManagementDeps,
  writes: ResourceWrites<typeof tables.providers>,
): Handlers {
  const answerOf = ({ caller }: { caller: Caller }, row: Row<'providers'>) =>
    toOneProvider(deps, deps.ofOrganization(caller.organizationId), row);

  return {
    async listProviders(call) {
      const rows = await writes.list(call, 'listProviders');
      return toProviders(deps, deps.ofOrganization(call.caller.organizationId), rows);
    },
    listProviderPresets: async (call) => [...listPresets(call, 'listProviderPresets', providerPresets)],
    getProvider: async (call) => answerOf(call, await writes.read(call, call.params.provider_id)),
    async createProvider(call) {
      const { body } = call;
      demandStorable(body);
      const preset_slug = body.preset_slug ?? null;
      demandKnownPreset(preset_slug);
      const given = { ...UNCONNECTED, ...presetSettings(preset_slug), ...body, preset_slug };
      const connection = toColumns(checkedConnection(deps.egress, given));
      const row = await writes.create(call, ({ tx, organizationId }, id) => {
        const named = { name: body.name, fallback: 'provider' };
        return insertSlugged(tx, writes.rows, organizationId, named, (slug) => ({
          id,
          name: body.name,
          slug,
          ...connection,
          max_latency_ms: body.max_latency_ms ?? MAX_LATENCY_MS_DEFAULT,
          health_probe: body.health_probe,
          enabled: body.enabled,
        }));
      });
      return answerOf(call, row);
    },
    async updateProvider(call) {
      demandStorable(call.body);
      const row = await writes.update(call, call.params.provider_id, ({ tx }, before) =>
        patchOf(deps, tx, before, call.body),
      );
      return answerOf(call, row);
    },
    deleteProvider: (call) =>
      writes.remove(call, call.params.provider_id, async ({ tx }, before) => {
        const names = await endpointNamesOf(tx, before.organization_id, before.id);
        if (names.length === 0) return;
        throw conflict(
          'provider_id',
          `The provider is still used by ${names.length === 1 ? 'endpoint' : 'endpoints'} ${listNames(names)}. Delete every endpoint of the provider first.`,
        );
      }),
  };
}

async function toProviders(
  deps: ManagementDeps,
  db: Kysely<Database>,
  rows: readonly Row<'providers'>[],
): Promise<Provider[]> {
  const [first] = rows;
  if (first === undefined) return [];
  const { organization_id: organizationId } = first;
  const ids = rows.map(({ id }) => id);
  const useOf = await readProviderUse(db, organizationId, ids);
  const endpointIds = ids.flatMap((id) => useOf(id).enabledEndpointIds);
  const healthOf = await readHealth(deps, organizationId, endpointIds);
  return rows.map((row) => {
    const use = useOf(row.id);
    const seen = providerFields(use.enabledEndpointIds.map(healthOf));
    return toProvider(row, { has_credential: use.hasCredential, ...seen });
  });
}

export async function toOneProvider(
  deps: ManagementDeps,
  db: Kysely<Database>,
  row: Row<'providers'>,
): Promise<Provider> {
  const [provider] = await toProviders(deps, db, [row]);
  if (provider === undefined) throw new Error('one row became no provider');
  return provider;
}

async function patchOf(
  deps: ManagementDeps,
  tx: Transaction<Database>,
  before: Row<'providers'>,
  body: ProviderUpdate,
): Promise<Patch<'providers'>> {
  // A stored URL was allowed when it was saved; a change of something else does not judge it again.
  const egress = body.base_url === undefined ? { check: parseTargetUrl } : deps.egress;
  // A preset of an earlier version stays, until the change names another one.
  if (body.preset_slug !== before.preset_slug) demandKnownPreset(body.preset_slug ?? null);
  const connection = checkedConnection(egress, { ...before, ...body });
  await demandOriginKept(tx, before, connection.base_url);
  return {
    ...toColumns(connection),
    name: body.name,
    max_latency_ms: body.max_latency_ms,
    health_probe: body.health_probe,
    enabled: body.enabled,
  };
}

/**
 * A secret is only sent to the origin it was entered for. Disabled credentials count, because they can be
 * enabled again. The provider's row is locked, so no credential is added during the check.
 */
async function demandOriginKept(
  tx: Transaction<Database>,
  before: Row<'providers'>,
  baseUrl: string,
): Promise<void> {
  if (sameOrigin(before.base_url, baseUrl)) return;
  const names = await credentialNamesOf(tx, before.organization_id, before.id);
  if (names.length === 0) return;
  throw conflict(
    'base_url',
    `base_url changes to another origin, but credentials are stored for the old one: ${listNames(names)}. Delete them, change base_url, and enter the secret again; or create another provider.`,
  );
}
