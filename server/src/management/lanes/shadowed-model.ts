import { sql, type Transaction } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import type { Database } from '../../store/postgres/schema.ts';

/**
 * Throws when one of these names of a lane is also that of a model that an endpoint serves, alone or behind its provider's slug:
 * requests that name the model would go to the lane. Endpoints and providers that are disabled serve nothing.
 */
export async function demandShadowsNoModel(
  tx: Transaction<Database>,
  organizationId: string,
  names: readonly string[],
): Promise<void> {
  const { rows } = await sql<{ id: string; name: string; model: string }>`
    select endpoints.id, endpoints.name, called.model
    from endpoints
    join providers on providers.organization_id = endpoints.organization_id and providers.id = endpoints.provider_id
    cross join lateral (values (endpoints.upstream_model), (providers.slug || '/' || endpoints.upstream_model)) called (model)
    where endpoints.organization_id = ${organizationId} and endpoints.enabled and providers.enabled
      and called.model = any(${names})
    order by endpoints.id limit 1`.execute(tx);
  const [found] = rows;
  if (found === undefined) return;
  throw new RelayError('lane_shadows_model', {
    param: 'name',
    message: `The endpoint "${found.name}" serves the model "${found.model}". A lane with that name would get the requests for the model. Use another name, or send shadows_model: true if you want that.`,
    fields: { endpoint_id: found.id, endpoint: found.name, model: found.model },
  });
}
