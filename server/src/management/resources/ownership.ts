import { RelayError } from '../../domain/relay-error.ts';

/** What a row of any configuration table may say of itself; some have no name, some no owner. */
export interface Ownable {
  readonly id: string;
  readonly name?: unknown;
  readonly managed_by?: unknown;
}

/** The mark on the wire: there only when the file owns the resource. */
export function ownerOf(row: Ownable): { managed_by?: 'file' } {
  return row.managed_by === 'file' ? { managed_by: 'file' } : {};
}

/** What the file owns is changed in the file: a change made elsewhere would be undone by the next apply. */
export function demandNotOwnedByFile(kind: string, row: Ownable): void {
  if (row.managed_by !== 'file') return;
  throw new RelayError('managed_by_file', {
    message: `The ${sayOf(kind, row)} is owned by the configuration file. Change it there and apply the file; or take it out of the file and apply that with release (relay config apply --release), and it is free again.`,
    fields: { resource: kind, id: row.id },
  });
}

/** A row as messages name it. */
export function sayOf(kind: string, row: Ownable): string {
  const noun = kind.replaceAll('_', ' ');
  return row.name === undefined ? `${noun} ${row.id}` : `${noun} "${row.name}"`;
}
