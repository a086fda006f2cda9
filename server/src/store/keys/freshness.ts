import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { Snapshots } from '../configuration/snapshots.ts';
import type { Fences } from './fences.ts';

export interface FreshnessDeps {
  readonly fences: Pick<Fences, 'read' | 'forget'>;
  readonly snapshots: Pick<Snapshots, 'get' | 'atLeast'>;
}

/** What a request may be decided on. */
export interface Fresh {
  readonly snapshot: OrganizationSnapshot;
  /** Everything else used in the decision must have this version or a later one. */
  readonly version: number;
}

/**
 * The organization's current configuration, read after a request arrived. A writer that revokes access raises the fence before
 * it confirms, so the result includes every confirmed revocation. While nothing changes, this costs one read of the fence and
 * no query. Throws `store_unavailable`, and `not_found` for a deleted organization.
 */
export type Freshen = (organizationId: string, versionMin?: number) => Promise<Fresh>;

export function createFreshness(deps: FreshnessDeps): Freshen {
  return async (organizationId, versionMin = 0) => {
    const fence = await deps.fences.read(organizationId);
    const known = deps.snapshots.get(organizationId);
    if (known !== undefined && known.version >= Math.max(fence, versionMin))
      return { snapshot: known, version: fence };
    const snapshot = await snapshotAtFence(deps, organizationId, fence, versionMin);
    // Until it was loaded, this process did not follow changes that raise no fence.
    return { snapshot, version: snapshot.version };
  };
}

/** The snapshot at the fence or later, from memory or PostgreSQL. Throws like `Snapshots.atLeast`. */
export async function snapshotAtFence(
  { fences, snapshots }: { fences: Pick<Fences, 'forget'>; snapshots: Pick<Snapshots, 'atLeast'> },
  organizationId: string,
  fence: number,
  versionMin = 0,
): Promise<OrganizationSnapshot> {
  const snapshot = await snapshots.atLeast(organizationId, Math.max(fence, versionMin));
  // A restored backup leaves a fence above every version, and each request would query PostgreSQL until it is forgotten.
  if (snapshot.version < fence) await fences.forget(organizationId, fence).catch(() => undefined);
  return snapshot;
}
