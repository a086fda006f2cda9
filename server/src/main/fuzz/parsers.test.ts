import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parserProperties } from './parser-properties.fixture.ts';

// A short form of `npm run fuzz:parsers`. A failure names the seed and the path that repeat it.
const RUNS = 50;

describe('bytes that others wrote', () => {
  for (const { name, property } of parserProperties) {
    it(`are read or refused: ${name}`, async () => {
      await fc.assert(property, { numRuns: RUNS });
    });
  }
});
