import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createRandom, testSeed } from '@relay/testbed/random';
import { loadSimulation } from './load-simulation.fixture.ts';
import { PLANTED } from './planted-bugs.fixture.ts';

// `npm run sim -- --seeds 60 --planted all` looks for each of them.
const SEEDS_MAX = 60;
/** For a machine of which most belongs to others; 60 seeds take about 10 s of CPU. */
const TIMEOUT_MS = 300_000;
const bug = createRandom(testSeed()).pick(PLANTED);
const simulate = await loadSimulation(bug);

it(`the simulation finds ${bug.name}, within ${SEEDS_MAX} seeds`, { timeout: TIMEOUT_MS }, async () => {
  for (let seed = 1; seed <= SEEDS_MAX; seed += 1) if ((await simulate(seed)).findings.length > 0) return;
  assert.fail('no seed found it');
});
