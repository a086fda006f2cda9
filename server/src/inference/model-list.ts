import { routingTableOf } from '../domain/routing/routing.ts';
import type { OrganizationSnapshot } from '../domain/snapshot.ts';

export interface ModelList {
  readonly object: 'list';
  readonly data: readonly { id: string; object: 'model'; created: number; owned_by: string }[];
}

/** Upstream models of enabled endpoints; with `lanes` also the names of lanes that are not hidden. */
export function modelList(snapshot: OrganizationSnapshot, includeLanes: boolean): ModelList {
  const table = routingTableOf(snapshot);
  const models = table.models.map(({ id, createdAtMs, ownedBy }) => ({
    id,
    object: 'model' as const,
    created: Math.floor(createdAtMs / 1_000),
    owned_by: ownedBy,
  }));
  if (!includeLanes) return { object: 'list', data: models };
  const lanes = table.lanes
    .filter((lane) => !lane.hidden)
    .map((lane) => ({ id: lane.slug, object: 'model' as const, created: 0, owned_by: 'relay' }));
  return { object: 'list', data: [...models, ...lanes] };
}
