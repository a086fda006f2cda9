import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { choose } from './choose-candidate.ts';

const NOW_MS = 1_000_000;
const at = (inMs: number) => ({ slotMs: NOW_MS + inMs, boundBy: 'limit', exceeds: null, blockedBy: null });

describe('what a request that is alone is told', () => {
  for (const selection of ['preferred', 'soonest'] as const) {
    it(`keeps the engine's distance from the deadline: ${selection}`, () => {
      const ask = { selection, waitMsMax: 10_000 };
      assert.equal(choose(ask, [at(9_800)], NOW_MS).kind, 'later');
      const refused = choose(ask, [at(9_801)], NOW_MS);
      assert.ok(refused.kind === 'refused');
      assert.deepEqual([refused.reason, refused.retryAfterMs, refused.policyId], ['wait_budget', 1, 'limit']);
    });
  }
});
