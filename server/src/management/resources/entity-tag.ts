import { createHash } from 'node:crypto';
import { headers } from '@relay/contract';
import { RelayError } from '../../domain/relay-error.ts';

/** What a tag stands for: the version of a row, which every edit increments, and the rows that are returned along with it. */
export interface Tagged {
  readonly id: string;
  readonly version: number;
}

/** The entity tag of a row. With parts it changes with each of them too: one that is added, changed or taken away. */
export function entityTag(row: Pick<Tagged, 'version'>, parts?: readonly Tagged[]): string {
  if (parts === undefined) return `"${row.version}"`;
  const state = parts
    .map(({ id, version }) => `${id}:${version}`)
    .sort()
    .join();
  return `"${row.version}-${createHash('sha256').update(state).digest('hex').slice(0, 16)}"`;
}

/** Throws when `If-Match` names another tag than the current one. A row that does not exist yet matches none. */
export function demandMatch(
  header: (name: string) => string | undefined,
  row: Pick<Tagged, 'version'> | null,
  parts?: readonly Tagged[],
): void {
  const wanted = header(headers.ifMatch.toLowerCase());
  if (wanted === undefined) return;
  if (row === null) throw new RelayError('version_conflict');
  if (wanted.trim() === '*') return;
  const tag = entityTag(row, parts);
  const tags = wanted.split(',').map((each) => each.trim());
  if (tags.includes(tag)) return;
  throw new RelayError('version_conflict', { headers: { [headers.etag]: tag } });
}
