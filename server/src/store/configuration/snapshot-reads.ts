import type { OrganizationSnapshot } from '../../domain/snapshot.ts';

/** What is known about one organization. */
export interface SnapshotEntry {
  readonly organizationId: string;
  snapshot: OrganizationSnapshot | undefined;
  /** The newest version known to exist. */
  wantedVersion: number;
  /** Read again, whatever the versions say. */
  forced: boolean;
  running: Promise<OrganizationSnapshot | undefined> | undefined;
  /** Begins after the running read, for callers who wrote after that one had begun. */
  following: Promise<OrganizationSnapshot | undefined> | undefined;
}

export interface SnapshotReadsOptions {
  /** Undefined: the organization does not exist. */
  load(organizationId: string): Promise<OrganizationSnapshot | undefined>;
  /** The entry has a snapshot that its readers have not seen. */
  changed(entry: SnapshotEntry): void;
  /** The organization was deleted. */
  gone(entry: SnapshotEntry): void;
}

export interface SnapshotReads {
  /** Joins the running read, if there is one. */
  read(entry: SnapshotEntry): Promise<OrganizationSnapshot | undefined>;
  /** A read that begins no earlier than this call. */
  readAfresh(entry: SnapshotEntry): Promise<OrganizationSnapshot | undefined>;
}

/** Reads snapshots into their entries: concurrent callers share a read, and an older snapshot never replaces a newer one. */
export function createSnapshotReads({ load, changed, gone }: SnapshotReadsOptions): SnapshotReads {
  function install(entry: SnapshotEntry, snapshot: OrganizationSnapshot, force: boolean): void {
    const before = entry.snapshot?.version;
    if (before !== undefined && before > snapshot.version && !force) return;
    entry.snapshot = snapshot;
    if (force) {
      entry.forced = false;
      entry.wantedVersion = snapshot.version;
    }
    if (force || before !== snapshot.version) changed(entry);
  }

  function begin(entry: SnapshotEntry): Promise<OrganizationSnapshot | undefined> {
    const force = entry.forced;
    const running = load(entry.organizationId)
      .then((snapshot) => {
        if (snapshot === undefined) gone(entry);
        else install(entry, snapshot, force);
        return snapshot === undefined ? undefined : entry.snapshot;
      })
      .finally(() => {
        entry.running = undefined;
      });
    entry.running = running;
    return running;
  }

  return {
    read: (entry) => entry.running ?? begin(entry),
    readAfresh(entry) {
      if (entry.running === undefined) return begin(entry);
      entry.following ??= entry.running
        .catch(() => undefined)
        .then(() => {
          entry.following = undefined;
          return begin(entry);
        });
      return entry.following;
    },
  };
}
