import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** `rly_` + public id + `_` + 32 random bytes + checksum, the last two in base62. */
export const API_KEY_PREFIX = 'rly_';
const PUBLIC_ID_CHARACTERS = 10;
const SECRET_BYTES = 32;
/** 62^43 > 2^256, and 62^42 is not. */
const SECRET_CHARACTERS = 43;
const CHECKSUM_CHARACTERS = 6;
const FORM = new RegExp(
  `^${API_KEY_PREFIX}([0-9A-Za-z]{${PUBLIC_ID_CHARACTERS}})_[0-9A-Za-z]{${SECRET_CHARACTERS}}[0-9A-Za-z]{${CHECKSUM_CHARACTERS}}$`,
);
const LENGTH = API_KEY_PREFIX.length + PUBLIC_ID_CHARACTERS + 1 + SECRET_CHARACTERS + CHECKSUM_CHARACTERS;

/** 62^10 is just under 2^60, so ten characters hold seven bytes. */
const PUBLIC_ID_BYTES = 7;

export interface MintedKey {
  /** The complete key, shown to its owner once. */
  readonly key: string;
  readonly publicId: string;
}

export function mintApiKey(randomBytes: (size: number) => Buffer): MintedKey {
  const publicId = base62(randomBytes(PUBLIC_ID_BYTES), PUBLIC_ID_CHARACTERS);
  const unchecked = `${API_KEY_PREFIX}${publicId}_${base62(randomBytes(SECRET_BYTES), SECRET_CHARACTERS)}`;
  return { key: unchecked + checksum(unchecked), publicId };
}

/** Whether a credential has the format of a User API key, valid or not. */
export function looksLikeApiKey(text: string): boolean {
  return text.startsWith(API_KEY_PREFIX);
}

/** The public id of a well-formed key; null when the checksum does not match, so that a mistyped key needs no look-up. */
export function publicIdOf(key: string): string | null {
  if (key.length !== LENGTH) return null;
  const publicId = FORM.exec(key)?.[1];
  if (publicId === undefined) return null;
  const end = key.length - CHECKSUM_CHARACTERS;
  return checksum(key.slice(0, end)) === key.slice(end) ? publicId : null;
}

/** The name of the key in lists and messages. */
export function keyPrefixOf(publicId: string): string {
  return API_KEY_PREFIX + publicId;
}

/**
 * What the database stores of a key. Without the pepper, a stolen table does not tell whether a guess is right. Runs for every
 * request: preparing a pepper given as bytes would cost five times as much as the digest.
 */
export function digestOfKey(pepper: KeyObject, key: string): Buffer {
  return createHmac('sha256', pepper).update(key).digest();
}

export function isSameDigest(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Uses plain numbers, because it runs for every request. */
function checksum(text: string): string {
  let value = crc32(text);
  let digits = '';
  for (let index = 0; index < CHECKSUM_CHARACTERS; index += 1) {
    digits = DIGITS.charAt(value % 62) + digits;
    value = Math.floor(value / 62);
  }
  return digits;
}

function base62(bytes: Buffer, characters: number): string {
  let value = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let index = 0; index < characters; index += 1) {
    text = DIGITS.charAt(Number(value % 62n)) + text;
    value /= 62n;
  }
  return text;
}
