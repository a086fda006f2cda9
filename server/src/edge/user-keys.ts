import type { KeyObject } from 'node:crypto';
import type { Scope } from '@relay/contract';
import { effectiveScopes, type PlanName, type RoleName, rolePermissions } from '../domain/access.ts';
import { digestOfKey, isSameDigest, publicIdOf } from '../domain/api-key.ts';
import type { Caller } from '../domain/caller.ts';
import { RelayError } from '../domain/relay-error.ts';
import type { OrganizationSnapshot } from '../domain/snapshot.ts';
import type { Clock } from '../kit/clock.ts';
import type { Fresh, Freshen } from '../store/keys/freshness.ts';
import type { HeldKey } from '../store/keys/held-keys.ts';
import type { KeyDirectory } from '../store/keys/key-directory.ts';
import type { LastUses } from '../store/keys/last-uses.ts';

export interface UserKeysDeps {
  readonly directory: Pick<KeyDirectory, 'get' | 'find' | 'isCurrent'>;
  readonly freshen: Freshen;
  readonly uses: Pick<LastUses, 'note'>;
  /** The secrets under which digests may be stored. */
  readonly peppers: readonly KeyObject[];
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Without accounts there are no other members, so only keys of the implicit owner are accepted; null accepts all. */
  readonly onlyUserId: string | null;
}

/** The caller of a User API key. Throws 401, 403 when its owner is suspended, and 503 when that cannot be known. */
export type OpenWithKey = (key: string) => Promise<Caller>;

export function createUserKeys(deps: UserKeysDeps): OpenWithKey {
  const { directory, uses, clock } = deps;
  const accessOf = createAccessTable();
  return async (presented) => {
    const publicId = publicIdOf(presented);
    if (publicId === null) {
      throw new RelayError('invalid_api_key', {
        message: 'The key is mistyped or incomplete. Check you copied the full key.',
      });
    }
    const known = directory.get(publicId) ?? (await directory.find(publicId));
    if (known === undefined || !isKey(deps, known, presented)) throw unknownKey();
    // Expiry and revocation are never undone, so the key in memory is enough to reject.
    demandUsable(known, clock.nowMs());

    const fresh = await freshFor(deps, known);
    const key = await currentKey(deps, publicId, fresh);
    if (key === undefined || key.digest !== known.digest) throw unknownKey();
    if (key !== known) demandUsable(key, clock.nowMs());
    const role = roleOf(key, fresh.snapshot);
    uses.note(key);
    return {
      organizationId: key.organizationId,
      userId: key.userId,
      keyId: key.id,
      sessionId: null,
      kind: 'user_key',
      ...accessOf(key.scopes, role, fresh.snapshot.plan),
      keyPolicies: key.policies,
      keyTeamId: key.teamId,
      ...(key.labels !== undefined && { labels: key.labels }),
    };
  };
}

/** The organization, at least as new as the key: its owner may have joined just before it was created. */
async function freshFor({ freshen }: UserKeysDeps, key: HeldKey): Promise<Fresh> {
  try {
    return await freshen(key.organizationId, key.readVersion);
  } catch (error) {
    if (error instanceof RelayError && error.code === 'not_found') throw unknownKey();
    throw error;
  }
}

/** The key in memory while nothing changes; otherwise the current key. */
function currentKey(
  { directory }: UserKeysDeps,
  publicId: string,
  { version }: Fresh,
): HeldKey | undefined | Promise<HeldKey | undefined> {
  const key = directory.get(publicId);
  if (key !== undefined && directory.isCurrent(key.organizationId, version)) return key;
  return directory.find(publicId, version);
}

function isKey({ peppers, onlyUserId }: UserKeysDeps, known: HeldKey, presented: string): boolean {
  if (onlyUserId !== null && known.userId !== onlyUserId) return false;
  const stored = Buffer.from(known.digest, 'latin1');
  return peppers.some((pepper) => isSameDigest(stored, digestOfKey(pepper, presented)));
}

function demandUsable(key: HeldKey, nowMs: number): void {
  if (key.revokedAtMs !== null) throw new RelayError('revoked_api_key');
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) throw new RelayError('expired_api_key');
}

function roleOf(key: HeldKey, snapshot: OrganizationSnapshot): RoleName {
  const owner = snapshot.members.get(key.userId);
  if (owner === undefined) throw unknownKey();
  if (owner.status === 'active') return owner.role;
  throw new RelayError('permission_denied', {
    message: 'The owner of this key is suspended. Ask an owner or admin to reactivate them.',
  });
}

/** The same response for an unknown key and one whose owner or organization was deleted. */
function unknownKey(): RelayError {
  return new RelayError('invalid_api_key', {
    message:
      'This key is unknown, or its owner has left the organization. Check that it belongs to this deployment, or create a new one.',
  });
}

type KeyAccess = Pick<Caller, 'scopes' | 'access'>;

/** Computed once per set of scopes, role and plan; keys with the same scopes share the result. */
function createAccessTable(): (granted: ReadonlySet<Scope>, role: RoleName, plan: PlanName) => KeyAccess {
  const tables = new WeakMap<ReadonlySet<Scope>, Map<string, KeyAccess>>();
  return (granted, role, plan) => {
    let table = tables.get(granted);
    if (table === undefined) {
      table = new Map();
      tables.set(granted, table);
    }
    const name = `${role} ${plan}`;
    let found = table.get(name);
    if (found === undefined) {
      const access = { granted, permissions: rolePermissions[role], plan };
      found = { scopes: effectiveScopes(access), access };
      table.set(name, found);
    }
    return found;
  };
}
