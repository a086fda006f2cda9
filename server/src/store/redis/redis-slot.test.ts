import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { slotOf } from './redis-slot.ts';

describe('slotOf', () => {
  it('is the CRC-16 that the cluster specification names', () => {
    assert.equal(slotOf('123456789'), 0x31c3);
    assert.equal(slotOf(''), 0);
    assert.equal(slotOf('foo'), 12_182);
  });

  it('hashes the first tag alone, and the whole key when the tag is empty or open', () => {
    assert.equal(slotOf('relay:{foo}:usage'), slotOf('foo'));
    assert.equal(slotOf('{foo}{bar}'), slotOf('foo'));
    assert.notEqual(slotOf('{}foo'), slotOf('foo'));
    assert.notEqual(slotOf('{}foo'), slotOf('{}bar'));
    assert.notEqual(slotOf('{foo'), slotOf('foo'));
    assert.equal(slotOf('a{{foo}}b'), slotOf('{foo'));
  });
});
