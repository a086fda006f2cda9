import { setTimeout as pause } from 'node:timers/promises';
import type { Snapshots } from '../configuration/snapshots.ts';
import { createSharedReads } from '../shared-reads.ts';
import type { StoreLog } from '../store-log.ts';
import type { HeldKeys } from './held-keys.ts';
import type { KeyReader } from './read-keys.ts';

export interface KeyFollower {
  /** Whether the organization's held keys have reached that version. */
  isCurrent(organizationId: string, version: number): boolean;
  /** Drops changed keys, so that the held ones have reached that version. Throws `store_unavailable`. */
  catchUp(organizationId: string, version: number): Promise<void>;
  stop(): void;
}

interface KeyFollowerDeps {
  readonly held: HeldKeys;
  readonly read: KeyReader['changes'];
  readonly snapshots: Pick<Snapshots, 'onChange'>;
  readonly log: StoreLog;
  readonly retryMs: number;
}

/** Drops held keys that changed: when a request asks for it, and in the background after each new snapshot. */
export function createKeyFollower(deps: KeyFollowerDeps): KeyFollower {
  const { held } = deps;
  const sync = createSharedReads((organizationId) => dropChanged(deps, organizationId));
  /** Organizations whose keys are older than their snapshot, with the version to reach. */
  const behind = new Map<string, number>();
  const stopping = new AbortController();
  let following = false;

  const isCurrent = (organizationId: string, version: number) =>
    (held.versionOf(organizationId) ?? version) >= version;

  async function catchUp(organizationId: string, version: number): Promise<void> {
    if (!isCurrent(organizationId, version)) await sync(organizationId);
  }

  /** One organization after the other. A request that needs a version catches up by itself. */
  async function follow(): Promise<void> {
    if (following) return;
    following = true;
    for (const [organizationId, version] of behind) {
      behind.delete(organizationId);
      try {
        await catchUp(organizationId, version);
      } catch (error) {
        const fields = { err: error, organization_id: organizationId };
        deps.log.warn(fields, 'could not read changed keys; will retry');
        behind.set(organizationId, Math.max(version, behind.get(organizationId) ?? 0));
        const wait = { ref: false, signal: stopping.signal };
        await pause(deps.retryMs, undefined, wait).catch(() => behind.clear());
      }
    }
    following = false;
  }

  const unsubscribe = deps.snapshots.onChange((organizationId, snapshot) => {
    const version = held.versionOf(organizationId);
    if (version === undefined || version === snapshot?.version) return;
    // Deleted, or restored from a backup: the version of the held keys means nothing.
    if (snapshot === undefined || snapshot.version < version) held.dropOrganization(organizationId);
    else {
      behind.set(organizationId, snapshot.version);
      void follow();
    }
  });

  return {
    isCurrent,
    catchUp,
    stop() {
      unsubscribe();
      stopping.abort();
    },
  };
}

async function dropChanged({ held, read }: KeyFollowerDeps, organizationId: string): Promise<void> {
  const since = held.versionOf(organizationId);
  if (since === undefined) return;
  const owners = held.ownersOf(organizationId);
  const changes = await read(organizationId, since, owners);
  if (changes === undefined || changes.keyIds === null || changes.version < since) {
    held.dropOrganization(organizationId);
    return;
  }
  for (const keyId of changes.keyIds) held.drop(organizationId, keyId);
  const departed = new Set(changes.departedUserIds);
  const asked = new Set(owners);
  // The query did not cover owners whose first key was read meanwhile.
  for (const owner of held.ownersOf(organizationId))
    if (departed.has(owner.userId) || !asked.has(owner)) held.dropOwner(organizationId, owner.userId);
  held.advance(organizationId, changes.version);
}
