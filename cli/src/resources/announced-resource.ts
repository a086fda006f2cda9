import type { Api } from '../api/client.ts';
import { dataOf } from '../api/client.ts';
import type { Named } from '../api/find-one.ts';
import type { Cell } from '../output/cells.ts';
import type { Column } from '../output/table.ts';
import type { Bodies, Resource } from './resource.ts';

/** What the contract announces of a resource that has a command; `resource-list.ts` is generated from it. */
export interface AnnouncedResource {
  readonly singular: string;
  readonly plural: string;
  readonly summary: string;
  readonly description: string;
  /** The collection; one resource is below it by its id. */
  readonly path: string;
  readonly columns: readonly string[];
  bodies(): Promise<Bodies>;
}

/** The client without the types of single paths: here a path is data. */
interface Collection {
  GET<T>(path: string): Promise<{ readonly data?: T }>;
  POST<T>(path: string, init: { readonly body: object }): Promise<{ readonly data?: T }>;
  PUT<T>(path: string, init: { readonly body: object }): Promise<{ readonly data?: T }>;
  DELETE(path: string): Promise<unknown>;
}

type Own<T extends Named> = Omit<
  Resource<T>,
  'kind' | 'columns' | 'bodies' | 'list' | 'create' | 'update' | 'remove'
> &
  Partial<Pick<Resource<T>, 'columns' | 'bodies' | 'list'>>;

/** A resource by its announcement, and what the command line adds or shows differently. */
export function announcedResource<T extends Named>(
  announced: AnnouncedResource,
  own: Own<T> = {},
): Resource<T> {
  const one = (id: string) => `${announced.path}/${encodeURIComponent(id)}`;
  return {
    kind: { singular: announced.singular, plural: announced.plural },
    columns: announced.columns.map(columnOf<T>),
    bodies: announced.bodies,
    list: (api) => dataOf(collectionOf(api).GET<T[]>(announced.path)),
    create: (api, body) => dataOf(collectionOf(api).POST<T>(announced.path, { body })),
    update: (api, id, body) => dataOf(collectionOf(api).PUT<T>(one(id), { body })),
    async remove(api, id, takesOver) {
      await collectionOf(api).DELETE(`${one(id)}${takesOver ? '?takes_over=true' : ''}`);
    },
    ...own,
  };
}

function collectionOf({ management }: Api): Collection {
  return management as unknown as Collection;
}

function columnOf<T extends Named>(field: string): Column<T> {
  const value = (item: T): Cell => {
    const found: unknown = Object.entries(item).find(([name]) => name === field)?.[1];
    return typeof found === 'object' && found !== null ? JSON.stringify(found) : cellOf(found);
  };
  return { title: field.replaceAll('_', ' '), value, elastic: field === 'name' };
}

function cellOf(value: unknown): Cell {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}
