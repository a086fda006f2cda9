import type { Labels } from '@relay/contract';
import type { Kysely } from 'kysely';
import type { BudgetPolicy } from '../../domain/snapshot.ts';
import type { Database } from '../postgres/schema.ts';
import { createSharedReads } from '../shared-reads.ts';

/** What a User API key brings to its requests. */
export interface KeyTerms {
  /** Enabled limits, ordered by id. */
  readonly policies: readonly BudgetPolicy[];
  readonly teamId: string | null;
  /** Left out: none. */
  readonly labels?: Labels;
}

/**
 * The limits, team and labels of User API keys by key id, for a process that gets the caller from the platform and never sees a
 * key.
 */
export interface KeyBudgets {
  /**
   * As of that version of the organization's configuration or later. Read once per version, then answered from memory. Throws
   * `store_unavailable`.
   */
  of(organizationId: string, keyId: string, version: number): KeyTerms | Promise<KeyTerms>;
}

interface Held {
  readonly version: number;
  readonly terms: KeyTerms;
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
    return found.terms;
  });

  return {
    of(organizationId, keyId, version) {
      const place = `${organizationId} ${keyId}`;
      const known = held.get(place);
      if (known === undefined || known.version < version) return read(place);
      held.delete(place);
      held.set(place, known);
      return known.terms;
    },
  };
}

/** One statement, so that terms and version are consistent. */
async function readBudgets(db: Kysely<Database>, organizationId: string, keyId: string): Promise<Held> {
  const rows = await db
    .selectFrom('organizations as organization')
    .leftJoin('api_keys as key', (join) =>
      join.onRef('key.organization_id', '=', 'organization.id').on('key.id', '=', keyId),
    )
    .leftJoin('api_key_limit_policies as policy', (join) =>
      join
        .onRef('policy.organization_id', '=', 'organization.id')
        .on('policy.api_key_id', '=', keyId)
        .on('policy.enabled', '=', true),
    )
    .select([
      'organization.config_version',
      'key.team_id',
      'key.labels',
      'policy.id',
      'policy.target_type',
      'policy.target_id',
      'policy.metric',
      'policy.period',
      'policy.limit_value',
      'policy.unpriced',
      'policy.enforcement',
      'policy.counter',
    ])
    .where('organization.id', '=', organizationId)
    .orderBy('policy.id')
    .execute();
  const policies: BudgetPolicy[] = [];
  for (const {
    id,
    target_type,
    target_id,
    metric,
    period,
    limit_value,
    unpriced,
    enforcement,
    counter,
  } of rows) {
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
      enforcement: enforcement ?? 'estimate',
      counter: counter ?? 0,
    });
  }
  const { config_version = 0, team_id = null, labels = null } = rows[0] ?? {};
  const terms = {
    policies: policies.length === 0 ? NONE : policies,
    teamId: team_id,
    ...(labels !== null && Object.keys(labels).length > 0 && { labels }),
  };
  return { version: config_version, terms };
}
