import type { Provider, ProviderUpdate } from '@relay/contract';
import type { Kysely, Transaction } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { Handlers } from '../../http/call.ts';
import type { Database, tables } from '../../store/postgres/schema.ts';
import { providerFields, readHealth } from '../endpoint-health.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { conflict, listNames } from '../resources/refusals.ts';
import type { Patch, Row } from '../resources/rows.ts';
import { insertSlugged } from '../resources/slugged-insert.ts';
import { checkedBaseUrl, demandAuthHeader, sameOrigin } from '../resources/upstream-address.ts';
import type { ResourceWrites } from '../resources/write-resource.ts';
import { credentialNamesOf, endpointNamesOf, readProviderUse } from './queries.ts';
import { MAX_LATENCY_MS_DEFAULT, toProvider } from './wire.ts';

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
    getProvider: async (call) => answerOf(call, await writes.read(call, call.params.provider_id)),
    async createProvider(call) {
      const { body } = call;
      demandStorable(body);
      const authMode = body.auth_mode ?? 'bearer_static';
      demandAuthHeader(authMode, body.auth_header_name ?? null);
      const baseUrl = checkedBaseUrl(deps.egress, body.base_url);
      const row = await writes.create(call, ({ tx, organizationId }, id) => {
        const named = { name: body.name, fallback: 'provider' };
        return insertSlugged(tx, writes.rows, organizationId, named, (slug) => ({
          id,
          name: body.name,
          slug,
          base_url: baseUrl,
          auth_mode: authMode,
          auth_header_name: body.auth_header_name ?? null,
          max_latency_ms: body.max_latency_ms ?? MAX_LATENCY_MS_DEFAULT,
          preset_slug: presetOf(body.preset_slug),
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
          `The provider is still used by ${names.length === 1 ? 'endpoint' : 'endpoints'} ${listNames(names)}. Delete those first.`,
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
  const headerName = body.auth_header_name === undefined ? before.auth_header_name : body.auth_header_name;
  demandAuthHeader(body.auth_mode ?? before.auth_mode, headerName);
  const baseUrl = body.base_url === undefined ? undefined : checkedBaseUrl(deps.egress, body.base_url);
  if (baseUrl !== undefined) await demandOriginKept(tx, before, baseUrl);
  return {
    name: body.name,
    base_url: baseUrl,
    auth_mode: body.auth_mode,
    auth_header_name: body.auth_header_name,
    max_latency_ms: body.max_latency_ms,
    preset_slug: body.preset_slug === undefined ? undefined : presetOf(body.preset_slug),
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
    `base_url moves to another origin, and the stored credentials ${listNames(names)} were given for the old one. Delete them, change base_url, and enter the secret again; or create another provider.`,
  );
}

function presetOf(presetSlug: string | null | undefined): string | null {
  return presetSlug === undefined || presetSlug === '' ? null : presetSlug;
}
