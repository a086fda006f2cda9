import type { Kysely } from 'kysely';
import type { BudgetPolicy } from '../../domain/snapshot.ts';
import { toBudgetPolicy } from '../configuration/load-snapshot.ts';
import type { Database } from '../postgres/schema.ts';
import type { KeyTerms } from './key-budgets.ts';

/** The limits and team of each of these keys. One that is gone has none. */
export async function readKeyTerms(
  db: Kysely<Database>,
  organizationId: string,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, Pick<KeyTerms, 'policies' | 'teamId'>>> {
  if (keyIds.length === 0) return new Map();
  const keys = await db
    .selectFrom('api_keys')
    .select(['id', 'team_id'])
    .where('organization_id', '=', organizationId)
    .where('id', 'in', keyIds)
    .execute();
  const policies = await db
    .selectFrom('api_key_limit_policies')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('api_key_id', 'in', keyIds)
    .where('enabled', '=', true)
    .orderBy('id')
    .execute();
  const byKey = Map.groupBy(
    policies.map((row): BudgetPolicy => toBudgetPolicy('api_key', row.api_key_id, row)),
    ({ subjectId }) => subjectId,
  );
  return new Map(keys.map(({ id, team_id }) => [id, { teamId: team_id, policies: byKey.get(id) ?? [] }]));
}
