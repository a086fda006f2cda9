import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { it } from 'node:test';
import { finish } from '../kit/slices.ts';
import { digestInSteps, digestOfBody } from './body-digest.ts';

it('a body has the same digest in steps and in one go', () => {
  for (const size of [0, 1, 512 * 1024, 512 * 1024 + 1, 3_000_000]) {
    const body = randomBytes(size);
    assert.equal(finish(digestInSteps(body)), digestOfBody(body));
  }
});
