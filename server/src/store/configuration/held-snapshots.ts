import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { SnapshotEntry } from './snapshot-reads.ts';

/** Undefined: the organization was deleted. */
export type SnapshotListener = (organizationId: string, snapshot: OrganizationSnapshot | undefined) => void;

/** The organizations in memory. The least recently used are evicted first. */
export interface HeldSnapshots {
  /** Counts as a use. */
  get(organizationId: string): OrganizationSnapshot | undefined;
  /** Does not count as a use. */
  find(organizationId: string): SnapshotEntry | undefined;
  /** Creates the entry if needed. */
  entryOf(organizationId: string): SnapshotEntry;
  /** Least recently used first. */
  all(): SnapshotEntry[];
  readonly size: number;
  /** Tells the listeners about the entry's snapshot, unless the entry was evicted. */
  announce(entry: SnapshotEntry): void;
  drop(entry: SnapshotEntry): void;
  /** Returns a function that removes the listener. */
  onChange(listener: SnapshotListener): () => void;
}

export function createHeldSnapshots({ organizationsMax }: { organizationsMax: number }): HeldSnapshots {
  /** In order of use. */
  const entries = new Map<string, SnapshotEntry>();
  const listeners = new Set<SnapshotListener>();

  const isHeld = (entry: SnapshotEntry) => entries.get(entry.organizationId) === entry;

  function evict(added: SnapshotEntry): void {
    for (const [oldest, candidate] of entries) {
      if (entries.size <= organizationsMax) break;
      if (candidate !== added && candidate.running === undefined) entries.delete(oldest);
    }
  }

  return {
    get(organizationId) {
      const entry = entries.get(organizationId);
      if (entry?.snapshot === undefined) return undefined;
      entries.delete(organizationId);
      entries.set(organizationId, entry);
      return entry.snapshot;
    },
    find: (organizationId) => entries.get(organizationId),
    entryOf(organizationId) {
      const existing = entries.get(organizationId);
      if (existing !== undefined) return existing;
      const entry = emptyEntry(organizationId);
      entries.set(organizationId, entry);
      evict(entry);
      return entry;
    },
    all: () => [...entries.values()],
    get size() {
      return entries.size;
    },
    announce(entry) {
      if (!isHeld(entry)) return;
      for (const listener of listeners) listener(entry.organizationId, entry.snapshot);
    },
    drop(entry) {
      if (!isHeld(entry)) return;
      entries.delete(entry.organizationId);
      if (entry.snapshot === undefined) return;
      for (const listener of listeners) listener(entry.organizationId, undefined);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function emptyEntry(organizationId: string): SnapshotEntry {
  return {
    organizationId,
    snapshot: undefined,
    wantedVersion: 0,
    forced: false,
    running: undefined,
    following: undefined,
  };
}
