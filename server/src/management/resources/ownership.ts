import { RelayError } from '../../domain/relay-error.ts';
import { nounOf } from './refusals.ts';

/** The columns of a configuration table that concern ownership; some tables lack a name or an owner. */
export interface Ownable {
  readonly id: string;
  readonly name?: unknown;
  readonly managed_by?: unknown;
}

/** The API's `managed_by` field, present only when the file owns the resource. */
export function ownerOf(row: Ownable): { managed_by?: 'file' } {
  return row.managed_by === 'file' ? { managed_by: 'file' } : {};
}

/** Throws 409 for a resource that the file owns: the next apply would undo the change. */
export function demandNotOwnedByFile(kind: string, row: Ownable): void {
  if (row.managed_by !== 'file') return;
  throw new RelayError('managed_by_file', {
    message: `The ${sayOf(kind, row)} is managed by file. Change it in the file and apply the file, or remove it from the file and run \`relay config apply --release\`.`,
    fields: { resource: kind, id: row.id },
  });
}

/** The row's name for messages. */
export function sayOf(kind: string, row: Ownable): string {
  const noun = nounOf(kind);
  return row.name === undefined ? `${noun} ${row.id}` : `${noun} "${row.name}"`;
}
