import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  digestOfKey,
  isSameDigest,
  keyPrefixOf,
  looksLikeApiKey,
  mintApiKey,
  publicIdOf,
} from './api-key.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHARACTERS = 64;

/** Keys of every kind of randomness, the extremes included. */
const minted = fc.uint8Array({ minLength: 39, maxLength: 39 }).map((bytes) => {
  let taken = 0;
  return mintApiKey((size) => {
    taken += size;
    return Buffer.from(bytes.subarray(taken - size, taken));
  });
});
const place = fc.nat({ max: CHARACTERS - 1 });

function replaced(key: string, at: number, by: string): string {
  return key.slice(0, at) + by + key.slice(at + 1);
}

describe('User API keys', () => {
  it('have the one form: prefix, public id, secret and checksum, in letters and digits', () => {
    fc.assert(
      fc.property(minted, ({ key, publicId }) => {
        assert.match(key, /^rly_[0-9A-Za-z]{10}_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/);
        assert.ok(key.startsWith(`${keyPrefixOf(publicId)}_`));
        assert.ok(looksLikeApiKey(key));
      }),
    );
  });

  it('take 32 random bytes for the secret, and seven for the public id', () => {
    const sizes: number[] = [];
    mintApiKey((size) => {
      sizes.push(size);
      return Buffer.alloc(size, 7);
    });
    assert.deepEqual(sizes, [7, 32]);
  });

  it('tell their public id, whatever their bytes are', () => {
    fc.assert(fc.property(minted, ({ key, publicId }) => assert.equal(publicIdOf(key), publicId)));
  });

  it('are long enough that all zeros and all ones keep their length', () => {
    for (const byte of [0x00, 0xff]) {
      const { key, publicId } = mintApiKey((size) => Buffer.alloc(size, byte));
      assert.equal(key.length, CHARACTERS);
      assert.equal(publicIdOf(key), publicId);
    }
  });

  it('differ in every part of their randomness', () => {
    const keys = Array.from({ length: 2_000 }, () => mintApiKey(randomBytes));
    assert.equal(new Set(keys.map(({ publicId }) => publicId)).size, keys.length);
    assert.equal(new Set(keys.map(({ key }) => key.slice(15, 58))).size, keys.length);
  });

  it('are refused after any one character was mistyped', () => {
    fc.assert(
      fc.property(minted, place, fc.constantFrom(...DIGITS, '_', '-', 'é', '\u0000'), ({ key }, at, by) => {
        const wrong = replaced(key, at, by);
        if (wrong !== key) assert.equal(publicIdOf(wrong), null);
      }),
      { numRuns: 2_000 },
    );
  });

  it('are refused after two neighbours have changed places', () => {
    fc.assert(
      fc.property(minted, fc.nat({ max: CHARACTERS - 2 }), ({ key }, at) => {
        const swapped = key.slice(0, at) + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2);
        if (swapped !== key) assert.equal(publicIdOf(swapped), null);
      }),
      { numRuns: 2_000 },
    );
  });

  it('are refused when something is missing or added at either end', () => {
    fc.assert(
      fc.property(minted, place, fc.string({ minLength: 1, maxLength: 4 }), ({ key }, length, more) => {
        assert.equal(publicIdOf(key.slice(0, length)), null);
        assert.equal(publicIdOf(key.slice(length + 1)), null);
        assert.equal(publicIdOf(key + more), null);
        assert.equal(publicIdOf(more + key), null);
      }),
    );
  });

  it('cannot be made up without the checksum', () => {
    const digit = fc.constantFrom(...DIGITS);
    const invented = fc
      .tuple(
        fc.string({ unit: digit, minLength: 10, maxLength: 10 }),
        fc.string({ unit: digit, minLength: 49, maxLength: 49 }),
      )
      .map(([publicId, rest]) => `rly_${publicId}_${rest}`);
    fc.assert(fc.property(invented, (key) => assert.equal(publicIdOf(key), null)));
    fc.assert(fc.property(fc.string(), (text) => assert.equal(publicIdOf(text), null)));
  });

  it('have a digest that only the same key under the same pepper has', () => {
    const [pepper, other] = [createSecretKey(randomBytes(32)), createSecretKey(randomBytes(32))];
    fc.assert(
      fc.property(minted, minted, ({ key: one }, { key: two }) => {
        const digest = digestOfKey(pepper, one);
        assert.equal(digest.length, 32);
        assert.equal(isSameDigest(digest, digestOfKey(pepper, two)), one === two);
        assert.equal(isSameDigest(digest, digestOfKey(other, one)), false);
        assert.equal(isSameDigest(digest, digest.subarray(0, 31)), false);
      }),
    );
  });
});
