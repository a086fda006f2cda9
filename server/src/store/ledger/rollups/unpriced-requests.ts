import { type RawBuilder, sql } from 'kysely';

/** The price of a rollup's endpoint; to be joined as `price`. */
export function priceOf(rollups: string): RawBuilder<unknown> {
  const [organization, endpoint] = [sql.ref(`${rollups}.organization_id`), sql.ref(`${rollups}.endpoint_id`)];
  return sql`left join pricing_policies as price
      on price.organization_id = ${organization} and price.endpoint_id = ${endpoint}`;
}

/** Attempts that used something. Sums by endpoint, provider and model are of attempts; others are of requests. */
export function meteredAttempts(rollups: string): RawBuilder<number> {
  return sql`(${sql.ref(`${rollups}.requests_metered`)} + ${sql.ref(`${rollups}.further_metered`)})`;
}

/** Attempts that were sent. Without any, there is no usage and no cost. */
export function sentAttempts(rollups: string): RawBuilder<number> {
  return sql`(${sql.ref(`${rollups}.requests_metered`)} + ${sql.ref(`${rollups}.further_attempts`)})`;
}

/** An attempt with zero cost at an endpoint without a price is unpriced, because its real cost is unknown. */
export function unpricedAttempts(rollups: string): RawBuilder<unknown> {
  const cost = sql.ref(`${rollups}.cost_micros`);
  return sql`coalesce(sum(${meteredAttempts(rollups)}) filter (where ${cost} = 0 and price.id is null), 0)`;
}

/** The other attempts that used something. Without any, no cost is known. */
export function pricedAttempts(rollups: string): RawBuilder<unknown> {
  const cost = sql.ref(`${rollups}.cost_micros`);
  return sql`coalesce(sum(${meteredAttempts(rollups)}) filter (where ${cost} <> 0 or price.id is not null), 0)`;
}

/** Requests with an unpriced attempt; a little more where several of one request are. */
export function unpricedRequests(rollups: string): RawBuilder<unknown> {
  const metered = sql`coalesce(sum(${sql.ref(`${rollups}.requests_metered`)}), 0)`;
  return sql`greatest(least(${unpricedAttempts(rollups)}, ${metered}), 0)`;
}
