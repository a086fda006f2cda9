import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { loadSimulation } from './load-simulation.fixture.ts';
import { PLANTED } from './planted-bugs.fixture.ts';

// `npm run sim -- --seeds N --from SEED` runs more of them, and `--trace` shows every event of one.
const PARTS = 5;
const SEEDS_PER_PART = 80;
const RUN = join(import.meta.dirname, 'run.fixture.ts');
const execute = promisify(execFile);
const simulate = await loadSimulation(null);

describe('a simulated deployment', () => {
  for (let part = 0; part < PARTS; part += 1) {
    const first = part * SEEDS_PER_PART + 1;
    it(`keeps every promise in ${SEEDS_PER_PART} runs from seed ${first}`, async () => {
      let requests = 0;
      for (let seed = first; seed < first + SEEDS_PER_PART; seed += 1) {
        const { findings, faults, dispatched } = await simulate(seed);
        assert.deepEqual(findings, [], `seed ${seed} (${faults.join(', ') || 'no faults'})`);
        requests += dispatched;
      }
      // Runs in which nothing happens would prove little.
      assert.ok(requests > 10 * SEEDS_PER_PART, `${requests} requests reached a provider`);
    });
  }

  it('does the same again with the same seed, event by event', async () => {
    for (const seed of [2, 13, 90]) {
      const traces: string[] = [];
      for (let run = 0; run < 2; run += 1) {
        const lines: string[] = [];
        await simulate(seed, (line) => void lines.push(line));
        traces.push(lines.join('\n'));
      }
      assert.ok((traces[0]?.length ?? 0) > 10_000, `seed ${seed}`);
      assert.ok(traces[0] === traces[1], `seed ${seed} took two ways`);
    }
  });
});

describe('the simulation finds', { concurrency: 2 }, () => {
  for (const [index, { name }] of PLANTED.entries()) {
    it(`${name}, within 60 seeds`, async () => {
      const args = [RUN, '--seeds', '60', '--planted', String(index)];
      const failed = await execute(process.execPath, args).then(
        () => null,
        (error: { stdout: string }) => error.stdout,
      );
      assert.match(failed ?? 'nothing', /"failures":1}\n$/);
    });
  }
});
