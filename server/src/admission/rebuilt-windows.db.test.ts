import { describe, it } from 'node:test';
import { testSeed } from '@relay/testbed/random';
import fc from 'fast-check';
import { privateRedis } from '../store/fixtures/private-redis.fixture.ts';
import { benches } from './both-engines.fixture.ts';
import { type Action, runThenLose } from './rebuilt-windows.fixture.ts';

const actions: fc.Arbitrary<Action> = fc.oneof(
  fc.record({
    kind: fc.constant('arrive' as const),
    tokens: fc.constantFrom(0, 20, 60),
    spendMicros: fc.constantFrom(0, 30, 90),
    waits: fc.boolean(),
    first: fc.nat(2),
    both: fc.boolean(),
  }),
  fc.record({
    kind: fc.constantFrom('fall back' as const, 'settle' as const),
    which: fc.nat(20),
    isSent: fc.integer({ min: 0, max: 5 }).map((dice) => dice > 0),
    tokens: fc.constantFrom(0, 10, 60, 200),
    spendMicros: fc.constantFrom(0, 15, 90, 400),
    isPosted: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('leave' as const), which: fc.nat(20) }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 400, 900) }),
);

describe('a store that loses everything after any history', () => {
  const redis = privateRedis({ commandTimeoutMs: 10_000 });

  for (const [name, start] of benches(redis)) {
    it(`has every limit as it was, from the attempts of settled requests and from those that are not over, ${name}`, async () => {
      const history = fc.array(actions, { minLength: 10, maxLength: 60 });
      await fc.assert(
        fc.asyncProperty(history, async (steps) => {
          await runThenLose(start, () => redis().run(['FLUSHALL']), steps);
        }),
        { numRuns: name === 'in memory' ? 300 : 40, seed: Number(testSeed()) | 0, endOnFailure: true },
      );
    });
  }
});
