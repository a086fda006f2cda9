import { createPublicKey, randomBytes, randomUUIDv7 } from 'node:crypto';
import { digestOfBody } from '../../domain/body-digest.ts';
import type { Context } from './context.ts';
import { signingKeyOf } from './context-key.ts';

export interface KeyPair {
  readonly seed: Buffer;
  /** 32 bytes, as an operator configures it. */
  readonly publicKey: Buffer;
}

export function newKeyPair(): KeyPair {
  const seed = randomBytes(32);
  const spki = createPublicKey(signingKeyOf(seed).key).export({ format: 'der', type: 'spki' });
  return { seed, publicKey: spki.subarray(-32) };
}

/** A context as the platform signs it for an organization's key. */
export function contextFor(over: Partial<Context> = {}): Context {
  return {
    requestId: randomUUIDv7(),
    method: 'POST',
    target: '/v1/chat/completions?trace=1',
    bodyDigest: digestOfBody(Buffer.from('{}')),
    caller: {
      organizationId: '0192f5a0-0000-7000-8000-00000000000a',
      userId: '0192f5a0-0000-7000-8000-00000000000b',
      keyId: '0192f5a0-0000-7000-8000-00000000000c',
      sessionId: null,
      kind: 'user_key',
      scopes: new Set(['relay:request']),
    },
    configVersion: 7,
    ...over,
  };
}
