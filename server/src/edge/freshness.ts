import type { OrganizationSnapshot } from '../domain/snapshot.ts';
import type { Snapshots } from '../store/configuration/snapshots.ts';
import type { Fences } from '../store/keys/fences.ts';

export interface FreshnessDeps {
  readonly fences: Pick<Fences, 'read' | 'forget'>;
  readonly snapshots: Pick<Snapshots, 'get' | 'atLeast'>;
}

/** What a request may be decided on. */
export interface Fresh {
  readonly snapshot: OrganizationSnapshot;
  /** Whatever else is decided on has to be of this version or later. */
  readonly version: number;
}

/**
 * The organization as it is now, asked for after a request has arrived: whoever takes access away raises the fence
 * first and confirms it afterwards, so nothing that was confirmed before is still in the answer. While nothing
 * changes, it costs the read of the fence and no query. Throws `store_unavailable`, and `not_found` for an
 * organization that is gone.
 */
export type Freshen = (organizationId: string, versionMin?: number) => Promise<Fresh>;

export function createFreshness({ fences, snapshots }: FreshnessDeps): Freshen {
  return async (organizationId, versionMin = 0) => {
    const fence = await fences.read(organizationId);
    const wanted = Math.max(fence, versionMin);
    const known = snapshots.get(organizationId);
    if (known !== undefined && known.version >= wanted) return { snapshot: known, version: fence };
    const snapshot = await snapshots.atLeast(organizationId, wanted);
    // PostgreSQL was set back to a time before the fence, and would be asked for every request until it passes it.
    if (snapshot.version < fence) await fences.forget(organizationId, fence).catch(() => undefined);
    // As long as there was no snapshot, nobody followed changes that raise no fence.
    return { snapshot, version: snapshot.version };
  };
}
