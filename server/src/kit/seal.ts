import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { Secret } from './secret.ts';

/**
 * Encrypts secrets at rest: AES-256-GCM under a master key, bound to associated data, so that a sealed value that is copied to
 * another row does not open there.
 *
 * Layout: version (1 byte) · key id (8) · nonce (12) · ciphertext · tag (16). The key id identifies the master key without
 * revealing anything of it, so that old values still open after a key rotation.
 */
export interface Sealer {
  /** The id of the key that `seal` uses. */
  readonly keyId: string;
  /** Seals under the key that is in use, or under another configured one. */
  seal(plaintext: string, associated: readonly string[], keyId?: string): Buffer;
  /** Throws `UnsealError` when no key matches, the value was changed, or the associated data differ. */
  open(sealed: Buffer, associated: readonly string[]): Secret;
  keyIdOf(sealed: Buffer): string;
  needsReseal(sealed: Buffer): boolean;
  /** A keyed digest, for comparing texts that may hold secrets: a guess cannot be tested without the master key. */
  digest(text: string): KeyedDigest;
}

/** A sealer of a process. Which of its keys is in use changes while it runs, for all processes of a deployment together. */
export interface RotatingSealer extends Sealer {
  /** All that it can open; the first one is the operator's newest. */
  readonly keyIds: readonly [string, ...string[]];
  /** Throws for a key that is not configured. */
  use(keyId: string): void;
}

export interface KeyedDigest {
  /** To store. */
  readonly bytes: Buffer;
  /** Whether the stored digest is of the same text, also under an earlier master key. */
  matches(stored: Buffer): boolean;
}

export class UnsealError extends Error {
  override readonly name = 'UnsealError';
}

const VERSION = 1;
const KEY_BYTES = 32;
const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES;
const OVERHEAD_BYTES = HEADER_BYTES + NONCE_BYTES + TAG_BYTES;

export function createSealer(keys: { primary: Buffer; previous?: readonly Buffer[] }): RotatingSealer {
  const keysById = new Map<string, Buffer>();
  for (const key of [keys.primary, ...(keys.previous ?? [])]) {
    if (key.length !== KEY_BYTES)
      throw new Error(`a master key must have ${KEY_BYTES} bytes, not ${key.length}`);
    keysById.set(idOfKey(key), key);
  }
  const keyIds: readonly [string, ...string[]] = [idOfKey(keys.primary), ...[...keysById.keys()].slice(1)];
  let [usedId] = keyIds;

  function keyOf(keyId: string): Buffer {
    const key = keysById.get(keyId);
    if (key === undefined) throw new UnsealError('no configured master key can decrypt this value');
    return key;
  }

  return {
    keyIds,
    get keyId() {
      return usedId;
    },
    use(keyId) {
      keyOf(keyId);
      usedId = keyId;
    },
    seal(plaintext, associated, keyId = usedId) {
      const header = Buffer.concat([Buffer.of(VERSION), Buffer.from(keyId, 'hex')]);
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', keyOf(keyId), nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(associatedBytes(header, associated));
      const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
      return Buffer.concat([header, nonce, ciphertext, cipher.getAuthTag()]);
    },
    open: (sealed, associated) => new Secret(decrypt(sealed, keyOf(keyIdOf(sealed)), associated)),
    keyIdOf,
    needsReseal: (sealed) => keyIdOf(sealed) !== usedId,
    digest: (text) => ({
      bytes: digestUnder(keyOf(usedId), text),
      matches: (stored) => [...keysById.values()].some((key) => digestUnder(key, text).equals(stored)),
    }),
  };
}

function decrypt(sealed: Buffer, key: Buffer, associated: readonly string[]): string {
  const nonceEnd = HEADER_BYTES + NONCE_BYTES;
  const tagStart = sealed.length - TAG_BYTES;
  const nonce = sealed.subarray(HEADER_BYTES, nonceEnd);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(associatedBytes(sealed.subarray(0, HEADER_BYTES), associated));
  decipher.setAuthTag(sealed.subarray(tagStart));
  try {
    const plaintext = [decipher.update(sealed.subarray(nonceEnd, tagStart)), decipher.final()];
    return Buffer.concat(plaintext).toString('utf8');
  } catch (cause) {
    throw new UnsealError('the encrypted value was changed, or belongs to another record', { cause });
  }
}

function keyIdOf(sealed: Buffer): string {
  if (sealed.length < OVERHEAD_BYTES || sealed[0] !== VERSION) {
    throw new UnsealError('not an encrypted value of a known version');
  }
  return sealed.subarray(1, HEADER_BYTES).toString('hex');
}

/** Differs from `idOfKey` for every text, because a prefix separates the two uses of the key. */
function digestUnder(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update('relay digest\0').update(text).digest();
}

function idOfKey(key: Buffer): string {
  return createHmac('sha256', key)
    .update('relay master key id')
    .digest()
    .subarray(0, KEY_ID_BYTES)
    .toString('hex');
}

/** Each part is prefixed with its length, so that no two lists of parts give the same bytes. */
function associatedBytes(header: Buffer, parts: readonly string[]): Buffer {
  const chunks: Buffer[] = [header];
  for (const part of parts) {
    const bytes = Buffer.from(part, 'utf8');
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    chunks.push(length, bytes);
  }
  return Buffer.concat(chunks);
}

/**
 * Reads a master key from text: 32 bytes as base64 (plain or URL-safe) or hex. Text that is clearly not random is rejected, because
 * a guessable key protects nothing. Error messages never contain the text.
 */
export function parseMasterKey(text: string): Buffer {
  const trimmed = text.trim();
  const key = /^[0-9a-fA-F]{64}$/.test(trimmed)
    ? Buffer.from(trimmed, 'hex')
    : /^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)
      ? Buffer.from(trimmed, 'base64')
      : undefined;
  if (key === undefined || key.length !== KEY_BYTES) {
    throw new Error('must be 32 bytes in base64 or hex; generate one with `openssl rand -base64 32`');
  }
  // 32 random bytes have about 30 distinct values, and all of them are printable in one of 10^13 keys.
  const distinct = new Set(key).size;
  const steps = new Set(key.subarray(1).map((byte, index) => byte - (key[index] ?? 0))).size;
  if (distinct < 16 || steps < 8 || key.every((byte) => byte >= 0x20 && byte < 0x7f)) {
    throw new Error('is not random; generate one with `openssl rand -base64 32`');
  }
  return key;
}
