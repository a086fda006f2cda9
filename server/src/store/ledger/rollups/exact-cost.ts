import { type RawBuilder, sql } from 'kysely';

/** The cost of rollups in 10⁻¹² dollar; numeric, because 64 bits end at 9 million dollars. */
export function exactCost(rollups: string): RawBuilder<unknown> {
  const [micros, rounding] = [sql.ref(`${rollups}.cost_micros`), sql.ref(`${rollups}.cost_rounding_picos`)];
  return sql`coalesce(sum(${micros}) * 1000000 - sum(${rounding}), 0)`;
}
