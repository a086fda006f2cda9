import assert from 'node:assert/strict';
import { it } from 'node:test';
import { testSeed } from '@relay/testbed/random';
import { compareEngines, findPlanted } from './compare-engines.fixture.ts';
import { PLANTED } from './planted-faults.fixture.ts';
import { alone } from './reference.fixture.ts';

// Fixed, because each fault shows early in it; `npm run test:admission -- --planted --seed N` takes any.
const SEED = 1;
/** Histories of 500 operations. */
const HISTORIES = [
  ['a firm promise is not given up for an estimate, even to a request that came first', 1_448_114_001],
  ['the same under a calendar limit', 379_946],
  ['a request that loses its promise keeps its turn', 1_676_842_199],
] as const;

it('the reference keeps every promise', async () => {
  const { findings } = await compareEngines({ ops: 2_000, seed: testSeed(), start: async () => alone() });
  assert.deepEqual(findings, []);
});

for (const [rule, seed] of HISTORIES) {
  it(`${rule} (seed ${seed})`, async () => {
    const { findings } = await compareEngines({ ops: 500, seed, start: async () => alone() });
    assert.deepEqual(findings, []);
  });
}

for (const [index, fault] of PLANTED.entries()) {
  it(`the rule "${fault.rule}" catches ${fault.name}`, async () => {
    assert.notEqual(await findPlanted(fault, index, 20_000, SEED), null);
  });
}
