import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stepOfCode } from './totp-code.ts';

// The secret and times of RFC 6238, appendix B, with the last six of its eight digits.
const SECRET = '12345678901234567890';
const VECTORS: readonly (readonly [seconds: number, code: string])[] = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
];

describe('a code of an authenticator', () => {
  it('is the one of RFC 6238', () => {
    for (const [seconds, code] of VECTORS)
      assert.equal(stepOfCode(SECRET, code, seconds * 1_000), Math.floor(seconds / 30));
  });

  it('is known one step early and one step late, and no further', () => {
    const [seconds, code] = VECTORS[1] ?? [0, ''];
    const step = Math.floor(seconds / 30);
    for (const offset of [-30, 30]) assert.equal(stepOfCode(SECRET, code, (seconds + offset) * 1_000), step);
    for (const offset of [-60, 61]) assert.equal(stepOfCode(SECRET, code, (seconds + offset) * 1_000), null);
  });

  it('is nothing else: another secret, other digits, other text', () => {
    const [seconds, code] = VECTORS[0] ?? [0, ''];
    assert.equal(stepOfCode('another secret', code, seconds * 1_000), null);
    for (const wrong of ['287083', '28708', '2870822', '', 'abcdef'])
      assert.equal(stepOfCode(SECRET, wrong, seconds * 1_000), null);
  });
});
