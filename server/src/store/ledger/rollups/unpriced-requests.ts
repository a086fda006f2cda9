import { type RawBuilder, sql } from 'kysely';

/** The price of a rollup's endpoint; to be joined as `price`. */
export function priceOf(rollups: string): RawBuilder<unknown> {
  const [organization, endpoint] = [sql.ref(`${rollups}.organization_id`), sql.ref(`${rollups}.endpoint_id`)];
  return sql`left join pricing_policies as price
      on price.organization_id = ${organization} and price.endpoint_id = ${endpoint}`;
}

/** A request with zero cost at an endpoint without a price counts as unpriced, because its real cost is unknown. */
export function unpricedRequests(rollups: string): RawBuilder<unknown> {
  const [metered, cost] = [sql.ref(`${rollups}.requests_metered`), sql.ref(`${rollups}.cost_micros`)];
  return sql`coalesce(sum(${metered}) filter (where ${cost} = 0 and price.id is null), 0)`;
}
