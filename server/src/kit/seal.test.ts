import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createSealer, parseMasterKey, UnsealError } from './seal.ts';

const key = () => randomBytes(32);
const place = ['organization', 'provider', '1'];

describe('sealer', () => {
  it('opens what it sealed, whatever the text and the place', () => {
    const sealer = createSealer({ primary: key() });
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.string()), (text, associated) => {
        assert.equal(sealer.open(sealer.seal(text, associated), associated).reveal(), text);
      }),
    );
  });

  it('two seals of the same text differ', () => {
    const sealer = createSealer({ primary: key() });
    assert.notDeepEqual(sealer.seal('secret', place), sealer.seal('secret', place));
  });

  it('a sealed value moved to another place does not open', () => {
    const sealer = createSealer({ primary: key() });
    const sealed = sealer.seal('secret', place);
    for (const other of [
      ['organization', 'other', '1'],
      ['other', 'provider', '1'],
      ['organization', 'provider', '2'],
    ]) {
      assert.throws(() => sealer.open(sealed, other), UnsealError);
    }
  });

  it('parts of the place cannot be shifted into one another', () => {
    const sealer = createSealer({ primary: key() });
    assert.throws(() => sealer.open(sealer.seal('secret', ['ab', 'c']), ['a', 'bc']), UnsealError);
    assert.throws(() => sealer.open(sealer.seal('secret', ['a']), ['a', '']), UnsealError);
  });

  it('one changed bit anywhere is noticed', () => {
    const sealer = createSealer({ primary: key() });
    const sealed = sealer.seal('secret', place);
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.throws(() => sealer.open(changed, place), UnsealError, `bit ${bit}`);
    }
    assert.throws(() => sealer.open(sealed.subarray(0, 36), place), UnsealError);
    assert.throws(() => sealer.open(Buffer.alloc(0), place), UnsealError);
  });

  it('after a change of key old values open and ask to be sealed again', () => {
    const [old, next] = [key(), key()];
    const before = createSealer({ primary: old });
    const during = createSealer({ primary: next, previous: [old] });
    const afterwards = createSealer({ primary: next });
    const sealed = before.seal('secret', place);
    assert.equal(before.keyIdOf(sealed), before.keyId);
    assert.ok(during.needsReseal(sealed));
    assert.equal(during.open(sealed, place).reveal(), 'secret');
    assert.throws(() => afterwards.open(sealed, place), UnsealError);
    const again = during.seal('secret', place);
    assert.ok(!during.needsReseal(again));
    assert.equal(afterwards.open(again, place).reveal(), 'secret');
  });

  it('compares keyed digests under the present and earlier master keys, and under no other', () => {
    const [old, next] = [key(), key()];
    const stored = createSealer({ primary: old }).digest('text').bytes;
    const during = createSealer({ primary: next, previous: [old] });
    assert.ok(during.digest('text').matches(stored));
    assert.ok(during.digest('text').matches(during.digest('text').bytes));
    assert.ok(!during.digest('other').matches(stored));
    assert.ok(!createSealer({ primary: next }).digest('text').matches(stored));
  });

  it('what it opens does not show in logs', () => {
    const sealer = createSealer({ primary: key() });
    const opened = sealer.open(sealer.seal('canary', place), place);
    assert.doesNotMatch(JSON.stringify({ opened }), /canary/);
  });
});

describe('parseMasterKey', () => {
  it('reads 32 random bytes in base64, URL-safe base64 and hex', () => {
    for (let round = 0; round < 200; round += 1) {
      const bytes = key();
      for (const encoding of ['base64', 'base64url', 'hex'] as const) {
        assert.deepEqual(parseMasterKey(`${bytes.toString(encoding)}\n`), bytes);
      }
    }
  });

  it('refuses what is short, long, constant, counted or written by hand, and never repeats it', () => {
    const refused = [
      '',
      'changeme',
      randomBytes(31).toString('base64'),
      randomBytes(33).toString('base64'),
      randomBytes(16).toString('hex'),
      Buffer.alloc(32).toString('base64'),
      Buffer.alloc(32, 7).toString('hex'),
      Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64'),
      Buffer.from('change-me-change-me-change-me-32').toString('base64'),
      `${'0123456789abcdef'.repeat(4)}`,
      // As varied as random bytes, and typed.
      Buffer.from('Tr0ub4dor&3-correct-horse-batter').toString('base64'),
    ];
    for (const text of refused) {
      assert.throws(
        () => parseMasterKey(text),
        (error: Error) =>
          /openssl rand/.test(error.message) && (text === '' || !error.message.includes(text)),
        text,
      );
    }
  });
});
