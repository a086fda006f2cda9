import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRandom, testSeed } from '@relay/testbed/random';
import { splits, translateStream } from '../stream-case.fixture.ts';
import { streamGoldens, wholeGoldens } from './answer-goldens.fixture.ts';
import { meaningGoldens } from './meaning-goldens.fixture.ts';
import { requestGoldens } from './request-goldens.fixture.ts';

/** `npm run system -- translations` cuts each stream in 1,000 ways. */
const RANDOM_SPLITS = 50;

describe('a request for a provider of another protocol', () => {
  for (const { name, check } of requestGoldens) it(name, check);
});

describe('a meaning that several clients have', () => {
  for (const { name, check } of meaningGoldens) it(name, check);
});

describe('an answer for a client of another protocol', () => {
  for (const { name, check } of wholeGoldens) it(name, check);

  for (const { name, check, translation, bytes, options } of streamGoldens)
    it(`${name}, wherever its bytes are cut`, () => {
      check();
      const uncut = translateStream(translation, [bytes], options);
      for (const pieces of splits(bytes, RANDOM_SPLITS, createRandom(testSeed()).next))
        assert.equal(translateStream(translation, pieces, options), uncut);
    });
});
