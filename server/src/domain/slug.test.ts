import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { firstFreeSlug, slugOf } from './slug.ts';

describe('a slug', () => {
  it('is the name in lower case with dashes between letters and digits', () => {
    assert.equal(slugOf('OpenAI (EU) / GPT-5', 'provider'), 'openai-eu-gpt-5');
    assert.equal(slugOf('  Fast   lane  ', 'lane'), 'fast-lane');
    assert.equal(slugOf('Crème brûlée', 'lane'), 'creme-brulee');
    assert.equal(slugOf('快速 通道', 'lane'), '快速-通道');
  });

  it('falls back when a name has no letter or digit', () => {
    assert.equal(slugOf('***', 'lane'), 'lane');
    assert.equal(slugOf('🚀', 'endpoint'), 'endpoint');
  });

  it('of any name is short, without slash, space or outer dash, and its own slug', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (name) => {
        const slug = slugOf(name, 'lane');
        assert.match(slug, /^[\p{L}\p{N}\p{M}]+(?:-[\p{L}\p{N}\p{M}]+)*$/u);
        assert.ok([...slug].length <= 80);
        assert.equal(slug, slug.toLowerCase());
        assert.equal(slugOf(slug, 'lane'), slug);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the first free slug', () => {
  it('is the stem, then -2, then -3', () => {
    assert.equal(firstFreeSlug('fast', new Set()), 'fast');
    assert.equal(firstFreeSlug('fast', new Set(['fast'])), 'fast-2');
    assert.equal(firstFreeSlug('fast', new Set(['fast', 'fast-2'])), 'fast-3');
  });

  it('fills a number that became free', () => {
    assert.equal(firstFreeSlug('fast', new Set(['fast', 'fast-3'])), 'fast-2');
  });
});
