import type { Labels, Scope } from '@relay/contract';
import type { BudgetPolicy } from '../../domain/snapshot.ts';
import { createUseOrder, type UsedEntry } from './use-order.ts';

/** A User API key as an authenticator needs it. Values that many keys share are one object, not a copy in each. */
export interface HeldKey {
  readonly publicId: string;
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  /** 32 bytes as latin1, which takes a third of the memory of a Buffer. */
  readonly digest: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  /** Enabled limits, ordered by id. */
  readonly policies: readonly BudgetPolicy[];
  readonly teamId: string | null;
  /** Left out: none. */
  readonly labels?: Labels;
  /** The organization's configuration version when the key was read. */
  readonly readVersion: number;
  /** As PostgreSQL has it or will have it soon; 0 when the key was never used. */
  lastUsedAtMs: number;
}

/** A key as read from PostgreSQL, with its owner's membership. */
export interface ReadKey extends HeldKey {
  /** When its owner joined: distinguishes a membership from a later one of the same person. */
  readonly joinedAtMs: number;
}

interface Owner {
  readonly userId: string;
  readonly joinedAtMs: number;
  keys: number;
}

interface Organization {
  readonly organizationId: string;
  /** Its held keys are as PostgreSQL had them at this version or later. */
  version: number;
  readonly owners: Map<string, Owner>;
  readonly keys: Map<string, Entry>;
}

interface Entry extends HeldKey, UsedEntry<Entry> {
  readonly owner: Owner;
  readonly organization: Organization;
}

/** The keys in memory: the most recently used, at most `keysMax` of them. */
export interface HeldKeys {
  /** Counts as a use. */
  get(publicId: string): HeldKey | undefined;
  /** The version that all held keys of the organization have reached; undefined when none is held. */
  versionOf(organizationId: string): number | undefined;
  /** The owners of held keys, with the membership that the keys were read under. */
  ownersOf(organizationId: string): { userId: string; joinedAtMs: number }[];
  /** Keeps the organization's version; the first key sets it. */
  add(read: ReadKey): HeldKey;
  /** The organization's keys that are still held are unchanged up to this version. */
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
  const order = createUseOrder<Entry>();

  function remove(entry: Entry): void {
    const { organization, owner } = entry;
    order.remove(entry);
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

  /** Keys of an earlier membership were revoked with it. */
  function dropEarlierMembership({ organizationId, userId, joinedAtMs }: ReadKey): void {
    const owner = organizations.get(organizationId)?.owners.get(userId);
    if (owner !== undefined && owner.joinedAtMs !== joinedAtMs) dropOwner(organizationId, userId);
  }

  return {
    get(publicId) {
      const entry = byPublicId.get(publicId);
      if (entry !== undefined) order.use(entry);
      return entry;
    },
    versionOf: (organizationId) => organizations.get(organizationId)?.version,
    ownersOf: (organizationId) => [...(organizations.get(organizationId)?.owners.values() ?? [])],
    add(read) {
      const before = byPublicId.get(read.publicId);
      if (before !== undefined) remove(before);
      dropEarlierMembership(read);
      const organization = organizationOf(organizations, read);
      const entry = entryOf(read, organization, ownerIn(organization, read));
      entry.owner.keys += 1;
      organization.keys.set(entry.id, entry);
      byPublicId.set(entry.publicId, entry);
      order.add(entry);
      for (let oldest = order.oldest(); byPublicId.size > keysMax; oldest = order.oldest()) {
        if (oldest === null || oldest === entry) break;
        remove(oldest);
      }
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

function organizationOf(organizations: Map<string, Organization>, read: ReadKey): Organization {
  const known = organizations.get(read.organizationId);
  if (known !== undefined) return known;
  const { organizationId, readVersion } = read;
  const added = { organizationId, version: readVersion, owners: new Map(), keys: new Map() };
  organizations.set(organizationId, added);
  return added;
}

function ownerIn({ owners }: Organization, { userId, joinedAtMs }: ReadKey): Owner {
  const known = owners.get(userId);
  if (known !== undefined) return known;
  const added = { userId, joinedAtMs, keys: 0 };
  owners.set(userId, added);
  return added;
}

/** Ids come from the shared objects, so that the text of each exists once. */
function entryOf(read: ReadKey, organization: Organization, owner: Owner): Entry {
  return {
    publicId: read.publicId,
    id: read.id,
    organizationId: organization.organizationId,
    userId: owner.userId,
    digest: read.digest,
    scopes: read.scopes,
    expiresAtMs: read.expiresAtMs,
    revokedAtMs: read.revokedAtMs,
    policies: read.policies.length === 0 ? NO_POLICIES : read.policies,
    teamId: read.teamId,
    ...(read.labels !== undefined && { labels: read.labels }),
    readVersion: read.readVersion,
    lastUsedAtMs: read.lastUsedAtMs,
    owner,
    organization,
    older: null,
    newer: null,
  };
}
