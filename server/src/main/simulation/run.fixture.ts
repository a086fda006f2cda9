import { loadSimulation } from './load-simulation.fixture.ts';
import { PLANTED } from './planted-bugs.fixture.ts';

// `npm run sim -- --seeds N [--seed S] [--trace]`: N runs, the first with the seed S. `--planted` plants a bug by its number.

function numberAfter(args: readonly string[], flag: string): number | null {
  const at = args.indexOf(flag);
  return at < 0 ? null : Number(args[at + 1]);
}

async function main(args: readonly string[]): Promise<number> {
  const first = numberAfter(args, '--seed') ?? 1;
  const seeds = numberAfter(args, '--seeds') ?? 1;
  const planted = numberAfter(args, '--planted');
  const trace = args.includes('--trace') ? (line: string) => void process.stdout.write(`${line}\n`) : null;
  const simulate = await loadSimulation(planted === null ? null : (PLANTED[planted] ?? null));
  let simulatedMs = 0;
  let failures = 0;
  let ran = 0;
  for (let seed = first; seed < first + seeds; seed += 1) {
    const { findings, ...run } = await simulate(seed, trace);
    simulatedMs += run.simulatedMs;
    ran += 1;
    if (findings.length === 0) continue;
    failures += 1;
    process.stdout.write(`seed ${seed} (${run.faults.join(', ') || 'no faults'})\n`);
    for (const finding of findings.slice(0, 5)) process.stdout.write(`  ${finding}\n`);
    if (planted !== null) break;
  }
  const hours = Math.round(simulatedMs / 36_000) / 100;
  process.stdout.write(`${JSON.stringify({ seeds: ran, simulated_hours: hours, failures })}\n`);
  return failures > 0 ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2));
