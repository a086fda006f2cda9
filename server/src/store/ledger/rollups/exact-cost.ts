import { type RawBuilder, sql } from 'kysely';

/** The cost of rollups in 10⁻¹² dollar; numeric, because 64 bits end at 9 million dollars. */
export function exactCost(rollups: string): RawBuilder<unknown> {
  return exactSum(rollups, 'cost');
}

/** Selects the part of the cost of attempts that another attempt followed. */
export function fallbackCost(rollups: string): RawBuilder<unknown> {
  return exactSum(rollups, 'fallback_cost');
}

function exactSum(rollups: string, cost: 'cost' | 'fallback_cost'): RawBuilder<unknown> {
  const [micros, rounding] = [
    sql.ref(`${rollups}.${cost}_micros`),
    sql.ref(`${rollups}.${cost}_rounding_picos`),
  ];
  return sql`coalesce(sum(${micros}) * 1000000 - sum(${rounding}), 0)`;
}
