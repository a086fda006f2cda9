import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { boundUsage, TOKENS_MAX } from './bound-usage.ts';

const HUGE = Number.MAX_SAFE_INTEGER;
const usage = (inputTokens: number, outputTokens: number, cachedInputTokens = 0) => ({
  inputTokens,
  outputTokens,
  cachedInputTokens,
});

describe('reported usage is charged up to the context window plus the maximum output', () => {
  const cases: [string, Parameters<typeof boundUsage>, [number, number, number]][] = [
    ['what fits', [usage(900, 100, 3), 1_000, 200], [900, 100, 3]],
    ['exactly as much', [usage(1_000, 200), 1_000, 200], [1_000, 200, 0]],
    ['too much output', [usage(10, HUGE), 1_000, 200], [10, 1_190, 0]],
    ['too much input', [usage(HUGE, 10, HUGE), 1_000, 200], [1_190, 10, 1_190]],
    ['too much of both', [usage(HUGE, HUGE), 1_000, 200], [600, 600, 0]],
    ['an unknown window', [usage(10, HUGE), null, 200], [10, TOKENS_MAX - 10, 0]],
    ['an unknown output', [usage(10, HUGE), 1_000, null], [10, TOKENS_MAX - 10, 0]],
    ['nothing known', [usage(5_000_000, 5_000_000), null, null], [5_000_000, 5_000_000, 0]],
    ['a window beyond that', [usage(20_000_000, 1), 30_000_000, null], [20_000_000, 1, 0]],
    ['any limit on the output that a client sends', [usage(0, HUGE), 1_000, 1e9], [0, TOKENS_MAX + 1_000, 0]],
  ];
  for (const [what, given, expected] of cases) {
    it(what, () => {
      const { inputTokens, outputTokens, cachedInputTokens } = boundUsage(...given);
      assert.deepEqual([inputTokens, outputTokens, cachedInputTokens], expected);
    });
  }

  it('never more, never more than was reported, and what fits is untouched', () => {
    const count = fc.integer({ min: 0, max: HUGE });
    const size = fc.option(fc.integer({ min: 1, max: 2_000_000 }));
    fc.assert(
      fc.property(count, count, count, size, size, (input, output, cached, window, most) => {
        const given = usage(input, output, Math.min(cached, input));
        const charged = boundUsage(given, window, most);
        const bound = window === null || most === null ? TOKENS_MAX : window + most;
        assert.equal(charged.inputTokens + charged.outputTokens, Math.min(input + output, bound));
        assert.ok(charged.inputTokens <= input && charged.outputTokens <= output);
        assert.ok(charged.cachedInputTokens <= charged.inputTokens);
      }),
    );
  });
});
