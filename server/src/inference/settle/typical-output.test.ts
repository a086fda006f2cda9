import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTypicalOutput } from './typical-output.ts';

describe('typical output', () => {
  it('guesses until it has seen an answer, then follows what is reported', () => {
    const typical = createTypicalOutput();
    const guessTokens = typical.tokens('lane');
    assert.ok(guessTokens > 0);
    typical.learn('lane', 40);
    assert.equal(typical.tokens('lane'), 40);
    typical.learn('lane', 140);
    assert.equal(typical.tokens('lane'), 50);
    assert.equal(typical.tokens('another lane'), guessTokens);
  });

  it('is never brought to zero by a provider that reports zero', () => {
    const typical = createTypicalOutput();
    const guessTokens = typical.tokens('lane');
    typical.learn('lane', 0);
    assert.equal(typical.tokens('lane'), guessTokens);
  });
});
