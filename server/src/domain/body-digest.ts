import { createHash, hash } from 'node:crypto';
import type { Steps } from '../kit/slices.ts';

/** What is digested between two pauses. */
const STEP_BYTES = 512 * 1024;

/** The digest by which a signed context identifies the body that it was made for. */
export function digestOfBody(bytes: Buffer): string {
  return hash('sha256', bytes, 'base64url');
}

/** The same with pauses, because the digest of a large body would block the event loop. */
export function* digestInSteps(bytes: Buffer): Steps<string> {
  if (bytes.length <= STEP_BYTES) return digestOfBody(bytes);
  const digest = createHash('sha256');
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    digest.update(bytes.subarray(at, at + STEP_BYTES));
    yield;
  }
  return digest.digest('base64url');
}
