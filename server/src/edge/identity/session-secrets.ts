import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';

/** The secrets of sessions and second factors. While the operator replaces one, the earlier one is still accepted. */
export interface SessionSecrets {
  /** Signs what is new. Changes while the process runs, for all processes of the deployment together. */
  readonly current: KeyObject;
  readonly accepted: readonly KeyObject[];
}

const COOKIE_BYTES = 32;
const COOKIE_FORM = /^[A-Za-z0-9_-]{43}$/;

/** The browser's cookie. It is never stored. */
export function newSessionCookie(): string {
  return randomBytes(COOKIE_BYTES).toString('base64url');
}

/** The stored digest of a cookie; null for a malformed one, which needs no lookup. */
export function digestOfCookie(secret: KeyObject, cookie: string): string | null {
  return COOKIE_FORM.test(cookie) ? digest(secret, 'cookie', cookie) : null;
}

/** Only the console's pages can read it: it is in response bodies, which other origins cannot see. */
export function csrfTokenOf(secret: KeyObject, sessionId: string): string {
  return digest(secret, 'csrf', sessionId);
}

/** Stored with the sessions that a token opened, so that they end when it is replaced. */
export function digestOfAdminToken(secret: KeyObject, token: string): string {
  return digest(secret, 'admin token', token);
}

/** Names counters, so that no store shows which user they are about. */
export function nameOf(secret: KeyObject, subject: string): string {
  return digest(secret, 'name', subject);
}

/** Proves that a link to sign up was sent to this address. */
export function signUpProofOf(secret: KeyObject, email: string, expires: string): string {
  return digest(secret, 'sign up', `${expires} ${email}`);
}

/** Proves that a link to make this address theirs was sent to it for this user. */
export function newAddressProofOf(secret: KeyObject, userId: string, email: string, expires: string): string {
  return digest(secret, 'new address', `${expires} ${userId} ${email}`);
}

/** Compares in constant time. */
export function isSameText(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The purpose keeps a value made for one use from passing as another. */
function digest(secret: KeyObject, purpose: string, text: string): string {
  return createHmac('sha256', secret).update(`${purpose}\0${text}`).digest('base64url');
}
