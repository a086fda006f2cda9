import { createHmac, timingSafeEqual } from 'node:crypto';

/** The maximum age of a signature, so that a recorded event cannot be replayed later. */
const SIGNATURE_AGE_SECONDS_MAX = 300;

/** A body with the `Stripe-Signature` header that came with it. */
export interface SignedBody {
  /** The exact text that was sent, because the signature covers it. */
  readonly text: string;
  readonly signature: string;
  readonly secret: string;
  readonly nowMs: number;
}

/**
 * Stripe's documented scheme: the header is `t=<seconds>,v1=<hex>,…`, and each `v1` is an HMAC-SHA-256 of
 * `<t>.<body>`. During a secret rotation there are several, and one match is enough. Other schemes are ignored.
 */
export function isSignedByStripe({ text, signature, secret, nowMs }: SignedBody): boolean {
  const parts = signature.split(',').map((part) => part.trim().split('='));
  const timestamp = parts.findLast(([name]) => name === 't')?.[1] ?? '';
  if (!/^\d{1,15}$/.test(timestamp)) return false;
  const expected = createHmac('sha256', secret).update(`${timestamp}.${text}`).digest();
  const isMatch = parts.some(([name, value = '']) => name === 'v1' && isSame(expected, value));
  return isMatch && Math.floor(nowMs / 1_000) - Number(timestamp) <= SIGNATURE_AGE_SECONDS_MAX;
}

function isSame(expected: Buffer, hex: string): boolean {
  const given = Buffer.from(hex, 'hex');
  return /^[0-9a-f]{64}$/.test(hex) && timingSafeEqual(given, expected);
}
