import { createPrivateKey, createPublicKey, hash, type KeyObject } from 'node:crypto';

/** The prefix of the 32 bytes of an Ed25519 key in PKCS #8 and in SPKI (RFC 8410). */
const PRIVATE_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

export interface ContextKey<Kind extends 'private' | 'public'> {
  readonly kind: Kind;
  /** Identifies the key in a token; derived from the public half, it reveals nothing of the private one. */
  readonly id: string;
  readonly key: KeyObject;
}

export function signingKeyOf(seed: Buffer): ContextKey<'private'> {
  const key = createPrivateKey({
    key: Buffer.concat([PRIVATE_PREFIX, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return { kind: 'private', id: idOf(publicKey.subarray(PUBLIC_PREFIX.length)), key };
}

export function verifyKeyOf(publicKey: Buffer): ContextKey<'public'> {
  const key = createPublicKey({
    key: Buffer.concat([PUBLIC_PREFIX, publicKey]),
    format: 'der',
    type: 'spki',
  });
  return { kind: 'public', id: idOf(publicKey), key };
}

function idOf(publicKey: Buffer): string {
  return hash('sha256', publicKey, 'base64url').slice(0, 16);
}
