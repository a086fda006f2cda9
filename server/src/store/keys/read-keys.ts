import { isScope, type Labels, type Scope } from '@relay/contract';
import type { BudgetPolicy } from '../../domain/snapshot.ts';
import type { DatabaseHandle } from '../postgres/database-handle.ts';
import type { ReadKey } from './held-keys.ts';

/** What changed about an organization's held keys since their version. */
export interface KeyChanges {
  readonly version: number;
  /** Null: too many to list. */
  readonly keyIds: readonly string[] | null;
  /** Owners who have left since then, even if they came back: their earlier keys are revoked. */
  readonly departedUserIds: readonly string[];
}

export interface KeyReader {
  /** One statement, so that key, limits and version are consistent. Undefined: the key does not exist. */
  key(publicId: string): Promise<ReadKey | undefined>;
  /** Undefined: the organization does not exist. */
  changes(
    organizationId: string,
    sinceVersion: number,
    owners: readonly { readonly userId: string; readonly joinedAtMs: number }[],
  ): Promise<KeyChanges | undefined>;
}

interface KeyRow {
  readonly organization_id: string;
  readonly id: string;
  readonly user_id: string;
  readonly secret_hmac: Buffer;
  readonly scopes: string[];
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly last_used_at: Date | null;
  readonly team_id: string | null;
  readonly labels: Labels;
  readonly config_version: number;
  readonly joined_at: Date;
  readonly policies: Omit<BudgetPolicy, 'kind' | 'subjectId'>[] | null;
}

const KEY = `
  select key.organization_id, key.id, key.user_id, key.secret_hmac, key.scopes, key.expires_at, key.revoked_at,
    key.last_used_at, key.team_id, key.labels, organization.config_version, member.created_at as joined_at,
    (select json_agg(json_build_object('id', policy.id, 'targetType', policy.target_type, 'targetId', policy.target_id,
        'metric', policy.metric, 'period', policy.period, 'limitValue', policy.limit_value,
        'unpriced', policy.unpriced, 'enforcement', policy.enforcement, 'counter', policy.counter) order by policy.id)
      from api_key_limit_policies policy
      where policy.organization_id = key.organization_id and policy.api_key_id = key.id and policy.enabled) as policies
  from api_keys key
  join organizations organization on organization.id = key.organization_id
  join organization_members member
    on member.organization_id = key.organization_id and member.user_id = key.user_id
  where key.public_id = $1`;

const CHANGES_MAX = 1_000;
const CHANGES = `
  select organization.config_version,
    array(select id from api_keys where organization_id = organization.id and changed_version > $2
      limit ${CHANGES_MAX + 1}) as key_ids,
    array(select held.user_id from unnest($3::uuid[], $4::timestamptz[]) as held (user_id, joined_at)
      left join organization_members member
        on member.organization_id = organization.id and member.user_id = held.user_id
      where member.created_at is distinct from held.joined_at) as departed_user_ids
  from organizations organization
  where organization.id = $1`;

/** Scope sets shared between keys; further combinations get copies. */
const SCOPE_SETS_MAX = 1_000;

/** Named statements are planned once per connection, so a cache miss costs only the lookup. */
export function createKeyReader(database: Pick<DatabaseHandle, 'query'>): KeyReader {
  const scopeSets = new Map<string, ReadonlySet<Scope>>();

  function scopesOf(names: readonly string[]): ReadonlySet<Scope> {
    const text = names.join(' ');
    const known = scopeSets.get(text);
    if (known !== undefined) return known;
    const made = new Set(names.filter(isScope));
    if (scopeSets.size < SCOPE_SETS_MAX) scopeSets.set(text, made);
    return made;
  }

  async function run<Row>(name: string, text: string, values: readonly unknown[]): Promise<Row | undefined> {
    const { rows } = await database.query<Row>({ name, text, values });
    return rows[0];
  }

  return {
    async key(publicId) {
      const row = await run<KeyRow>('relay_key', KEY, [publicId]);
      if (row === undefined) return undefined;
      return {
        publicId,
        id: row.id,
        organizationId: row.organization_id,
        userId: row.user_id,
        digest: row.secret_hmac.toString('latin1'),
        scopes: scopesOf(row.scopes),
        expiresAtMs: row.expires_at?.getTime() ?? null,
        revokedAtMs: row.revoked_at?.getTime() ?? null,
        policies: (row.policies ?? []).map((policy) => ({ ...policy, kind: 'api_key', subjectId: row.id })),
        teamId: row.team_id,
        ...(Object.keys(row.labels).length > 0 && { labels: row.labels }),
        readVersion: row.config_version,
        lastUsedAtMs: row.last_used_at?.getTime() ?? 0,
        joinedAtMs: row.joined_at.getTime(),
      };
    },
    async changes(organizationId, sinceVersion, owners) {
      const row = await run<{ config_version: number; key_ids: string[]; departed_user_ids: string[] }>(
        'relay_key_changes',
        CHANGES,
        [
          organizationId,
          sinceVersion,
          owners.map(({ userId }) => userId),
          owners.map(({ joinedAtMs }) => new Date(joinedAtMs).toISOString()),
        ],
      );
      if (row === undefined) return undefined;
      return {
        version: row.config_version,
        keyIds: row.key_ids.length > CHANGES_MAX ? null : row.key_ids,
        departedUserIds: row.departed_user_ids,
      };
    },
  };
}
