import { loadNames } from './load.ts';
import { planFaults } from './plan.ts';
import { createRandom } from './random.ts';
import { type Check, runTrial, type SettleOptions, type SettleResult } from './settle.ts';

const REPETITIONS = 5;

/** Every fault, under every load, several times: one fleet for each load and repetition, with the faults in a new order. */
export async function faults(options: SettleOptions): Promise<SettleResult> {
  const startMs = performance.now();
  const trials = options.short
    ? [{ load: loadNames[0], seed: options.seed }]
    : Array.from({ length: REPETITIONS }, (_, index) => index).flatMap((index) =>
        loadNames.map((load, at) => ({ load, seed: options.seed + index * loadNames.length + at })),
      );
  const sums = {
    runs: 0,
    requests: 0,
    lost: 0,
    duplicated: 0,
    exceeded: 0,
    leaks: 0,
    drift_corrected: 0,
    drift_left: 0,
  };
  const checks: Check[] = [];
  const names = new Set<string>();
  for (const { load, seed } of trials) {
    options.say(`load ${load}, seed ${seed}`);
    const planned = planFaults(options.only, createRandom(seed));
    const { kills, seen, figures, checks: found } = await runTrial({ ...options, seed }, planned, load);
    const missed = planned.filter(({ name }) => !seen.has(name)).map(({ name }) => name);
    const about = (check: Check) => ({ ...check, name: `${load} ${seed}: ${check.name}` });
    checks.push(...[{ name: 'every fault came about', wrong: missed }, ...found].map(about));
    for (const name of seen.keys()) names.add(name);
    sums.runs += kills;
    sums.requests += figures.requests;
    sums.lost += figures.lost;
    sums.duplicated += figures.duplicated;
    sums.exceeded += figures.exceeded;
    sums.leaks += figures.leases_left + figures.backlog;
    sums.drift_corrected += figures.windows_corrected;
    sums.drift_left += figures.rollup_differences + figures.window_differences;
  }
  const { runs, ...rest } = sums;
  const seconds = Math.round((performance.now() - startMs) / 1_000);
  return { checks, figures: { runs, faults: names.size, ...rest, seconds, seed: options.seed } };
}
