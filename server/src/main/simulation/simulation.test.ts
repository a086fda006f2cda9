import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testSeed } from '@relay/testbed/random';
import { loadSimulation } from './load-simulation.fixture.ts';

// `npm run sim -- --seeds N --from SEED` runs more of them, and `--trace` shows every event of one.
const SEEDS = 15;
const REPEATED = 1;
/** For a machine of which most belongs to others; the runs take about 5 s of CPU. */
const TIMEOUT_MS = 300_000;
const first = testSeed() % 1_000_000;
const simulate = await loadSimulation(null);

describe('a simulated deployment', { timeout: TIMEOUT_MS }, () => {
  it(`keeps every promise in ${SEEDS} runs`, async () => {
    let requests = 0;
    for (let seed = first; seed < first + SEEDS; seed += 1) {
      const { findings, faults, dispatched } = await simulate(seed);
      assert.deepEqual(findings, [], `seed ${seed} (${faults.join(', ') || 'no faults'})`);
      requests += dispatched;
    }
    // Runs in which nothing happens would prove little.
    assert.ok(requests > 10 * SEEDS, `${requests} requests reached a provider`);
  });

  it('does the same again with the same seed, event by event', async () => {
    for (let seed = first; seed < first + REPEATED; seed += 1) {
      const [once, again] = [await traceOf(seed), await traceOf(seed)];
      assert.ok(once.length > 1_000, `seed ${seed}`);
      assert.ok(once === again, `seed ${seed} took two ways`);
    }
  });
});

async function traceOf(seed: number): Promise<string> {
  const lines: string[] = [];
  await simulate(seed, (line) => void lines.push(line));
  return lines.join('\n');
}
