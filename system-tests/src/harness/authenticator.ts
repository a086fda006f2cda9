import { createHmac } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const STEP_MS = 30_000;

/** What an authenticator shows for an otpauth:// address, now or some steps later (RFC 6238). */
export function codeOf(uri: string, stepsLater = 0): string {
  const { searchParams } = new URL(uri);
  const letters = [...(searchParams.get('secret') ?? '')];
  const bits = letters.map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / STEP_MS) + stepsLater));
  const mac = createHmac('sha1', Buffer.from(bytes)).update(counter).digest();
  const value = (mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7fffffff) % 1_000_000;
  return String(value).padStart(6, '0');
}
