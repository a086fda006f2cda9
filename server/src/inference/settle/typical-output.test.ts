import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTypicalOutput } from './typical-output.ts';

describe('typical output', () => {
  it('guesses until it has seen an answer, then follows what is reported', () => {
    const typical = createTypicalOutput();
    const guessTokens = typical.tokens('acme', 'lane');
    assert.ok(guessTokens > 0);
    typical.learn('acme', 'lane', 40);
    assert.equal(typical.tokens('acme', 'lane'), 40);
    typical.learn('acme', 'lane', 140);
    assert.equal(typical.tokens('acme', 'lane'), 50);
    assert.equal(typical.tokens('acme', 'another lane'), guessTokens);
  });

  it('is never brought to zero by a provider that reports zero', () => {
    const typical = createTypicalOutput();
    const guessTokens = typical.tokens('acme', 'lane');
    typical.learn('acme', 'lane', 0);
    assert.equal(typical.tokens('acme', 'lane'), guessTokens);
  });

  it('of one organization is not learned from another that calls a model of the same name', () => {
    const typical = createTypicalOutput();
    typical.learn('acme', 'gpt-4o', 10);
    typical.learn('other', 'gpt-4o', 1_000_000_000);
    assert.equal(typical.tokens('acme', 'gpt-4o'), 10);
  });

  it('keeps a bounded number of names, and one organization’s names do not displace another’s', () => {
    const typical = createTypicalOutput();
    typical.learn('acme', 'lane', 10);
    typical.learn('other', 'first', 10);
    for (let index = 0; index < 20_000; index += 1) typical.learn('other', `model ${index}`, 10);
    assert.equal(typical.tokens('acme', 'lane'), 10);
    assert.equal(typical.tokens('other', 'model 19999'), 10);
    assert.equal(typical.tokens('other', 'first'), typical.tokens('unknown', 'first'));
  });

  it('keeps the names that learned last, not those that learned first', () => {
    const typical = createTypicalOutput();
    typical.learn('acme', 'busy', 10);
    const learnOthers = (from: number) => {
      for (let index = from; index < from + 150; index += 1) typical.learn('acme', `model ${index}`, 10);
    };
    learnOthers(0);
    typical.learn('acme', 'busy', 10);
    learnOthers(150);
    assert.equal(typical.tokens('acme', 'busy'), 10);
  });

  it('keeps a bounded number of organizations: those that learned last', () => {
    const typical = createTypicalOutput();
    for (let index = 0; index < 20_000; index += 1) typical.learn(`organization ${index}`, 'lane', 10);
    assert.equal(typical.tokens('organization 0', 'lane'), typical.tokens('unknown', 'lane'));
    assert.equal(typical.tokens('organization 19999', 'lane'), 10);
  });
});
