import { type Kysely, sql } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import type { Row, RowRange } from '../resources/rows.ts';

/** One query for any number of guardrails. */
export async function readBindingCounts(
  db: Kysely<Database>,
  organizationId: string,
  guardrailIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('guardrail_bindings')
    .select(['guardrail_id', (select) => select.fn.countAll<number>().as('count')])
    .where('organization_id', '=', organizationId)
    .where(sql<boolean>`guardrail_id = any(${guardrailIds})`)
    .groupBy('guardrail_id')
    .execute();
  return new Map(rows.map((row) => [row.guardrail_id, Number(row.count)]));
}

/** In creation order. */
export async function listBindingsOf(
  db: Kysely<Database>,
  organizationId: string,
  guardrailId: string,
  { afterId, limit }: RowRange = {},
): Promise<Row<'guardrail_bindings'>[]> {
  return await db
    .selectFrom('guardrail_bindings')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('guardrail_id', '=', guardrailId)
    .$if(afterId !== undefined, (query) => query.where('id', '>', afterId ?? ''))
    .orderBy('id')
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
    .execute();
}
