import type { Kysely } from 'kysely';
import type { BudgetPolicy } from '../../domain/snapshot.ts';
import type { Database } from '../postgres/schema.ts';
import { createSharedReads } from '../shared-reads.ts';

/** The limits of User API keys by key id, for a process that gets the caller from the platform and never sees a key. */
export interface KeyBudgets {
  /**
   * The limits enabled at that version of the organization's configuration or later. Read once per version, then answered
   * from memory. Throws `store_unavailable`.
   */
  of(
    organizationId: string,
    keyId: string,
    version: number,
  ): readonly BudgetPolicy[] | Promise<readonly BudgetPolicy[]>;
}

interface Held {
  readonly version: number;
  readonly policies: readonly BudgetPolicy[];
}

const NONE: readonly BudgetPolicy[] = [];

export function createKeyBudgets(options: {
  readonly db: Kysely<Database>;
  /** How many keys stay in memory; the least recently used is evicted first. */
  readonly keysMax: number;
}): KeyBudgets {
  /** In order of use, the least recent first. */
  const held = new Map<string, Held>();

  const read = createSharedReads(async (place) => {
    const [organizationId = '', keyId = ''] = place.split(' ');
    const found = await readBudgets(options.db, organizationId, keyId);
    held.delete(place);
    held.set(place, found);
    for (const [oldest] of held) {
      if (held.size <= options.keysMax) break;
      held.delete(oldest);
    }
    return found.policies;
  });

  return {
    of(organizationId, keyId, version) {
      const place = `${organizationId} ${keyId}`;
      const known = held.get(place);
      if (known === undefined || known.version < version) return read(place);
      held.delete(place);
      held.set(place, known);
      return known.policies;
    },
  };
}

/** One statement, so that limits and version are consistent. */
async function readBudgets(db: Kysely<Database>, organizationId: string, keyId: string): Promise<Held> {
  const rows = await db
    .selectFrom('organizations as organization')
    .leftJoin('api_key_limit_policies as policy', (join) =>
      join
        .onRef('policy.organization_id', '=', 'organization.id')
        .on('policy.api_key_id', '=', keyId)
        .on('policy.enabled', '=', true),
    )
    .select([
      'organization.config_version',
      'policy.id',
      'policy.target_type',
      'policy.target_id',
      'policy.metric',
      'policy.period',
      'policy.limit_value',
      'policy.unpriced',
      'policy.counter',
    ])
    .where('organization.id', '=', organizationId)
    .orderBy('policy.id')
    .execute();
  const policies: BudgetPolicy[] = [];
  for (const { id, target_type, target_id, metric, period, limit_value, unpriced, counter } of rows) {
    // A key without limits still has the organization's row.
    if (id === null || target_type === null || metric === null || period === null || limit_value === null)
      continue;
    policies.push({
      id,
      kind: 'api_key',
      subjectId: keyId,
      targetType: target_type,
      targetId: target_id,
      metric,
      period,
      limitValue: limit_value,
      unpriced: unpriced ?? 'refuse',
      counter: counter ?? 0,
    });
  }
  return { version: rows[0]?.config_version ?? 0, policies: policies.length === 0 ? NONE : policies };
}
