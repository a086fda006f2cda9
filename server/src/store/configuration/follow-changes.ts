import type { Kysely } from 'kysely';
import type { Database } from '../postgres/schema.ts';
import type { StoreLog } from '../store-log.ts';
import { readConfigChanges, readConfigClock } from './config-version.ts';
import type { HeldSnapshots } from './held-snapshots.ts';

const CHANGES_PER_PAGE = 1_000;

export interface ChangeFollower {
  /**
   * Reads the configuration clock before the first snapshot is read. Every later load is at least as new, and every later
   * change has a greater version, so no change falls between the two.
   */
  anchor(): Promise<void>;
  /**
   * Marks the held snapshots that have a newer version in PostgreSQL, and drops those of deleted organizations. Returns the version up to
   * which all changes are marked.
   */
  markChanges(): Promise<number>;
}

export function createChangeFollower(deps: {
  readonly db: Kysely<Database>;
  readonly log: StoreLog;
  readonly held: Pick<HeldSnapshots, 'find' | 'all' | 'drop'>;
}): ChangeFollower {
  const { db, log, held } = deps;
  /** All changes up to this version are marked. */
  let seenVersion: number | undefined;
  let anchoring: Promise<number> | undefined;

  async function anchor(): Promise<void> {
    if (seenVersion !== undefined) return;
    // Many requests may arrive before the first read has ended; they share it.
    anchoring ??= readConfigClock(db).finally(() => {
      anchoring = undefined;
    });
    const version = await anchoring;
    seenVersion ??= version;
  }

  /** Marks one page of changes and returns the version up to which all are marked. */
  async function markPage(from: number, clockVersion: number): Promise<number> {
    const changes = await readConfigChanges(db, from, CHANGES_PER_PAGE);
    for (const change of changes) {
      const entry = held.find(change.organizationId);
      if (entry === undefined) continue;
      if (change.deleted) held.drop(entry);
      else entry.wantedVersion = Math.max(entry.wantedVersion, change.version);
    }
    const last = changes.at(-1)?.version ?? clockVersion;
    return changes.length < CHANGES_PER_PAGE ? Math.max(last, clockVersion) : last;
  }

  return {
    anchor,
    async markChanges() {
      await anchor();
      const clockVersion = await readConfigClock(db);
      let from = seenVersion ?? clockVersion;
      if (clockVersion < from) {
        // The database was restored from a backup, so the versions in memory mean nothing.
        log.warn({ seen_version: from, clock_version: clockVersion }, 'configuration versions went backward');
        for (const entry of held.all()) entry.forced = true;
        seenVersion = clockVersion;
        return clockVersion;
      }
      while (clockVersion > from) {
        from = await markPage(from, clockVersion);
        seenVersion = from;
      }
      return from;
    },
  };
}
