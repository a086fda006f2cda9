import { type Kysely, sql } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';

/** The credentials and endpoints of a provider, as far as the provider's response needs them. */
export interface ProviderUse {
  readonly hasCredential: boolean;
  readonly enabledEndpointIds: readonly string[];
}

/** Two queries for any number of providers. */
export async function readProviderUse(
  db: Kysely<Database>,
  organizationId: string,
  providerIds: readonly string[],
): Promise<(providerId: string) => ProviderUse> {
  const among = sql<boolean>`provider_id = any(${providerIds})`;
  const credentials = await db
    .selectFrom('credentials')
    .select('provider_id')
    .distinct()
    .where('organization_id', '=', organizationId)
    .where('enabled', '=', true)
    .where(among)
    .execute();
  const endpoints = await db
    .selectFrom('endpoints')
    .select(['id', 'provider_id'])
    .where('organization_id', '=', organizationId)
    .where('enabled', '=', true)
    .where(among)
    .execute();
  const withCredential = new Set(credentials.map((row) => row.provider_id));
  const byProvider = Map.groupBy(endpoints, (row) => row.provider_id);
  return (providerId) => ({
    hasCredential: withCredential.has(providerId),
    enabledEndpointIds: (byProvider.get(providerId) ?? []).map((row) => row.id),
  });
}

export async function endpointNamesOf(
  db: Kysely<Database>,
  organizationId: string,
  providerId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('endpoints')
    .select('name')
    .where('organization_id', '=', organizationId)
    .where('provider_id', '=', providerId)
    .orderBy('id')
    .execute();
  return rows.map((row) => row.name);
}

export async function credentialNamesOf(
  db: Kysely<Database>,
  organizationId: string,
  providerId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('credentials')
    .select('name')
    .where('organization_id', '=', organizationId)
    .where('provider_id', '=', providerId)
    .orderBy('id')
    .execute();
  return rows.map((row) => row.name);
}
