import { headers } from '@relay/contract';
import { RelayError } from '../../domain/relay-error.ts';

/** The row's version, which every edit increments, as an entity tag. */
export function entityTag(row: { readonly version: number }): string {
  return `"${row.version}"`;
}

/** Throws when `If-Match` names another version than the row has. */
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
