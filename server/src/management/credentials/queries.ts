import type { Kysely } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';

/** Endpoints that name this credential explicitly, instead of using the provider's default. */
export async function endpointNamesWith(
  db: Kysely<Database>,
  organizationId: string,
  credentialId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('endpoints')
    .select('name')
    .where('organization_id', '=', organizationId)
    .where('credential_id', '=', credentialId)
    .orderBy('id')
    .execute();
  return rows.map((row) => row.name);
}
