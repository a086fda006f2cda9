import { hash } from 'node:crypto';

/** What a signed context says of the body it was made for. */
export function digestOfBody(bytes: Buffer): string {
  return hash('sha256', bytes, 'base64url');
}
