import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const COOKIE_BYTES = 32;
const COOKIE_FORM = /^[A-Za-z0-9_-]{43}$/;

/** What a browser holds. Nothing of it is stored. */
export function newSessionCookie(): string {
  return randomBytes(COOKIE_BYTES).toString('base64url');
}

/** What is stored of a cookie; null for what cannot be one, which needs no look-up to tell. */
export function digestOfCookie(secret: Buffer, cookie: string): string | null {
  return COOKIE_FORM.test(cookie) ? digest(secret, 'cookie', cookie) : null;
}

/** Only pages of the console can read it: it is in bodies, which other origins cannot see. */
export function csrfTokenOf(secret: Buffer, sessionId: string): string {
  return digest(secret, 'csrf', sessionId);
}

/** Kept with the sessions that a token has opened, so that they end when it is replaced. */
export function digestOfAdminToken(secret: Buffer, token: string): string {
  return digest(secret, 'admin token', token);
}

/** What counters and the like are named after, so that no store shows whom they are about. */
export function nameOf(secret: Buffer, subject: string): string {
  return digest(secret, 'name', subject);
}

/** Independent of where two texts differ. */
export function isSameText(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The purpose keeps a value made for one thing from passing as another. */
function digest(secret: Buffer, purpose: string, text: string): string {
  return createHmac('sha256', secret).update(`${purpose}\0${text}`).digest('base64url');
}
