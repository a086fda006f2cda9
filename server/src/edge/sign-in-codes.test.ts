import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSignInCodes } from './sign-in-codes.ts';

describe('a sign-in code', () => {
  it('signs in once', () => {
    const codes = createSignInCodes({ monotonicMs: () => 0 });
    const [one, two] = [codes.issue(), codes.issue()];
    assert.notEqual(one, two);
    assert.equal(codes.redeem(one), true);
    assert.equal(codes.redeem(one), false);
    assert.equal(codes.redeem(two), true);
  });

  it('ends after an hour', () => {
    let nowMs = 0;
    const codes = createSignInCodes({ monotonicMs: () => nowMs });
    const [one, two] = [codes.issue(), codes.issue()];
    nowMs = 3_599_999;
    assert.equal(codes.redeem(one), true);
    nowMs = 3_600_000;
    assert.equal(codes.redeem(two), false);
  });

  it('is one of the newest sixteen', () => {
    const codes = createSignInCodes({ monotonicMs: () => 0 });
    const issued = Array.from({ length: 17 }, () => codes.issue());
    assert.deepEqual(
      issued.map((code) => codes.redeem(code)),
      issued.map((_code, index) => index > 0),
    );
  });

  it('is none that was never issued', () => {
    const codes = createSignInCodes({ monotonicMs: () => 0 });
    for (const code of ['', 'a', 'constructor']) assert.equal(codes.redeem(code), false);
  });
});
