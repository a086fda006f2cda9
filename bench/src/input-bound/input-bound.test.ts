import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import { testSeed } from '@relay/testbed/random';
import { loadModule } from '../checkouts/load-module.ts';
import { judge } from './judge.ts';
import { randomFrom } from './texts.ts';
import { costOf, type WordCost } from './word-costs.ts';

const TEXTS = 2_000;
const WORDS = 60;
const ROOT = resolve(import.meta.dirname, '../../..');

describe('input bound', () => {
  it('is never below what real tokenizers count, and at most 1.6 times as much for English', async () => {
    const seed = testSeed();
    const judged = await judge(TEXTS, seed);
    assert.deepEqual(judged.examples, [], `seed ${seed}`);
    assert.ok(judged.median_ratio_english <= 1.6, `${judged.median_ratio_english}, seed ${seed}`);
  });

  it('knows of every word what the tokenizers say in all surroundings', async () => {
    const seed = testSeed();
    const random = randomFrom(seed);
    const known = await knownWords();
    assert.ok(known.length > 20_000, String(known.length));
    const some = Array.from({ length: WORDS }, () => known[Math.floor(random() * known.length)]);
    for (const cost of some) assert.deepEqual(cost, costOf(cost?.word ?? ''), `seed ${seed}`);
  });
});

async function knownWords(): Promise<readonly WordCost[]> {
  const { WORDS: packed } = await loadModule<{ WORDS: string }>(
    ROOT,
    'protocols/input-bound/generated/words.ts',
  );
  const lines = brotliDecompressSync(Buffer.from(packed, 'base64')).toString('latin1').split('\n');
  return lines.flatMap((line) => {
    const [spaced, bare, ...words] = line.split(' ');
    return words.map((word) => ({ word, spaced: Number(spaced), bare: Number(bare) }));
  });
}
