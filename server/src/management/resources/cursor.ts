import { createHash } from 'node:crypto';
import type { RouteId } from '@relay/contract';
import type { RelayError } from '../../domain/relay-error.ts';
import { invalidField } from './refusals.ts';

/** One list of one organization. */
export interface CursorList {
  readonly route: RouteId;
  readonly organizationId: string;
  /** The path parameters of a list below a resource. */
  readonly params?: Readonly<Record<string, string>> | undefined;
}

const CHECK_BYTES = 8;

/** A position in one list. Every other list refuses it, because a page from there would be wrong without a sign of it. */
export function cursorAt(list: CursorList, position: Buffer): string {
  return Buffer.concat([position, checkOf(list, position)]).toString('base64url');
}

/** Throws unless this list gave out the cursor. */
export function positionAt(list: CursorList, cursor: string): Buffer {
  const position = Buffer.from(cursor, 'base64url').subarray(0, -CHECK_BYTES);
  if (cursorAt(list, position) !== cursor) throw unknownCursor();
  return position;
}

/** After these rows, whose ids order the list. */
export function cursorOfIds(list: CursorList, ...ids: readonly string[]): string {
  return cursorAt(list, Buffer.from(ids.join('').replaceAll('-', ''), 'hex'));
}

export function idOfCursor(list: CursorList, cursor: string): string {
  return idsOfCursor(list, cursor)[0] ?? '';
}

export function idsOfCursor(list: CursorList, cursor: string): readonly string[] {
  const ids = idsIn(positionAt(list, cursor));
  if (ids.length === 0) throw unknownCursor();
  return ids;
}

function idsIn(position: Buffer): string[] {
  const found = position.toString('hex').matchAll(/(.{8})(.{4})(.{4})(.{4})(.{12})/g);
  return [...found].map(([, ...parts]) => parts.join('-'));
}

function checkOf({ route, organizationId, params = {} }: CursorList, position: Buffer): Buffer {
  const names = Object.values(params).join(' ').toLowerCase();
  const hash = createHash('sha256').update(`${route} ${organizationId} ${names}\n`).update(position);
  return hash.digest().subarray(0, CHECK_BYTES);
}

export function unknownCursor(): RelayError {
  return invalidField(
    'cursor',
    'cursor is not valid for this list. Send the one that came with the previous page (X-Next-Cursor or next_cursor).',
  );
}
