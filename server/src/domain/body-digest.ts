import { hash } from 'node:crypto';

/** The digest by which a signed context identifies the body that it was made for. */
export function digestOfBody(bytes: Buffer): string {
  return hash('sha256', bytes, 'base64url');
}
