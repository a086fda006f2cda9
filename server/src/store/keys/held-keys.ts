import type { Scope } from '@relay/contract';
import type { BudgetPolicy } from '../../domain/snapshot.ts';

/** A User API key as a door needs to know it. What many keys have in common is one object, not a copy in each. */
export interface HeldKey {
  readonly publicId: string;
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  /** 32 bytes as latin1, a third of what a Buffer of its own would take. */
  readonly digest: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  /** Budgets in force, in the order of their ids. */
  readonly policies: readonly BudgetPolicy[];
  /** The organization's configuration version when the key was read. */
  readonly readVersion: number;
  /** As PostgreSQL knows or will soon know it; 0 when the key was never used. */
  lastUsedAtMs: number;
}

/** A key as it was read, with the membership of its owner at that moment. */
export interface ReadKey extends HeldKey {
  /** When its owner joined: tells one membership from a later one of the same person. */
  readonly joinedAtMs: number;
}

interface Owner {
  readonly userId: string;
  readonly joinedAtMs: number;
  keys: number;
}

interface Organization {
  readonly organizationId: string;
  /** What is held of it is as PostgreSQL had it at this version or later. */
  version: number;
  readonly owners: Map<string, Owner>;
  readonly keys: Map<string, Entry>;
}

interface Entry extends HeldKey {
  readonly owner: Owner;
  readonly organization: Organization;
  /** Neighbours in the order of use. */
  older: Entry | null;
  newer: Entry | null;
}

/** The keys in memory: the most recently used, at most `keysMax` of them. */
export interface HeldKeys {
  /** Counts as a use. */
  get(publicId: string): HeldKey | undefined;
  /** The version that all held keys of the organization are known at; undefined when none is held. */
  versionOf(organizationId: string): number | undefined;
  /** Whose keys are held, with the membership they were read under. */
  ownersOf(organizationId: string): { userId: string; joinedAtMs: number }[];
  /** The organization's version stays what it is; of the first key it is that key's. */
  add(read: ReadKey): HeldKey;
  /** All other keys of the organization are unchanged up to this version. */
  advance(organizationId: string, version: number): void;
  drop(organizationId: string, keyId: string): void;
  dropOwner(organizationId: string, userId: string): void;
  dropOrganization(organizationId: string): void;
  readonly size: number;
}

const NO_POLICIES: readonly BudgetPolicy[] = [];

export function createHeldKeys({ keysMax }: { keysMax: number }): HeldKeys {
  const byPublicId = new Map<string, Entry>();
  const organizations = new Map<string, Organization>();
  let oldest: Entry | null = null;
  let newest: Entry | null = null;

  function unlink(entry: Entry): void {
    if (entry.older === null) oldest = entry.newer;
    else entry.older.newer = entry.newer;
    if (entry.newer === null) newest = entry.older;
    else entry.newer.older = entry.older;
    entry.older = null;
    entry.newer = null;
  }

  function linkAsNewest(entry: Entry): void {
    entry.older = newest;
    if (newest === null) oldest = entry;
    else newest.newer = entry;
    newest = entry;
  }

  function remove(entry: Entry): void {
    const { organization, owner } = entry;
    unlink(entry);
    byPublicId.delete(entry.publicId);
    organization.keys.delete(entry.id);
    owner.keys -= 1;
    if (owner.keys === 0) organization.owners.delete(owner.userId);
    if (organization.keys.size === 0) organizations.delete(organization.organizationId);
  }

  function dropOwner(organizationId: string, userId: string): void {
    const keys = organizations.get(organizationId)?.keys.values() ?? [];
    for (const entry of keys) if (entry.userId === userId) remove(entry);
  }

  /** Keys of an earlier membership were deleted with it. */
  function ownerOf({ organizationId, userId, joinedAtMs, readVersion }: ReadKey): [Organization, Owner] {
    const before = organizations.get(organizationId)?.owners.get(userId);
    if (before !== undefined && before.joinedAtMs !== joinedAtMs) dropOwner(organizationId, userId);
    let organization = organizations.get(organizationId);
    if (organization === undefined) {
      organization = { organizationId, version: readVersion, owners: new Map(), keys: new Map() };
      organizations.set(organizationId, organization);
    }
    let owner = organization.owners.get(userId);
    if (owner === undefined) {
      owner = { userId, joinedAtMs, keys: 0 };
      organization.owners.set(userId, owner);
    }
    return [organization, owner];
  }

  return {
    get(publicId) {
      const entry = byPublicId.get(publicId);
      if (entry === undefined || entry === newest) return entry;
      unlink(entry);
      linkAsNewest(entry);
      return entry;
    },
    versionOf: (organizationId) => organizations.get(organizationId)?.version,
    ownersOf: (organizationId) => [...(organizations.get(organizationId)?.owners.values() ?? [])],
    add(read) {
      const before = byPublicId.get(read.publicId);
      if (before !== undefined) remove(before);
      const [organization, owner] = ownerOf(read);
      const entry: Entry = {
        publicId: read.publicId,
        id: read.id,
        organizationId: organization.organizationId,
        userId: owner.userId,
        digest: read.digest,
        scopes: read.scopes,
        expiresAtMs: read.expiresAtMs,
        revokedAtMs: read.revokedAtMs,
        policies: read.policies.length === 0 ? NO_POLICIES : read.policies,
        readVersion: read.readVersion,
        lastUsedAtMs: read.lastUsedAtMs,
        owner,
        organization,
        older: null,
        newer: null,
      };
      owner.keys += 1;
      organization.keys.set(entry.id, entry);
      byPublicId.set(entry.publicId, entry);
      linkAsNewest(entry);
      while (byPublicId.size > keysMax && oldest !== null && oldest !== entry) remove(oldest);
      return entry;
    },
    advance(organizationId, version) {
      const organization = organizations.get(organizationId);
      if (organization !== undefined) organization.version = Math.max(organization.version, version);
    },
    drop(organizationId, keyId) {
      const entry = organizations.get(organizationId)?.keys.get(keyId);
      if (entry !== undefined) remove(entry);
    },
    dropOwner,
    dropOrganization(organizationId) {
      for (const entry of organizations.get(organizationId)?.keys.values() ?? []) remove(entry);
    },
    get size() {
      return byPublicId.size;
    },
  };
}
