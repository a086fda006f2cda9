import { headers } from '@relay/contract';
import { RelayError } from '../../domain/relay-error.ts';

/** The version of a row as an entity tag; it grows with every edit. */
export function entityTag(row: { readonly version: number }): string {
  return `"${row.version}"`;
}

/** A caller who sends `If-Match` changes only the version it has read. */
export function demandMatch(
  header: (name: string) => string | undefined,
  row: { readonly version: number },
): void {
  const wanted = header(headers.ifMatch.toLowerCase());
  if (wanted === undefined || wanted.trim() === '*') return;
  const tags = wanted.split(',').map((tag) => tag.trim());
  if (tags.includes(entityTag(row))) return;
  throw new RelayError('version_conflict', { headers: { [headers.etag]: entityTag(row) } });
}
