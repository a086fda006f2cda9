// `npm run sim`: runs of simulated deployments, each drawn from its seed. The last line is one JSON object.
import { execFile } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';
import { runCommand, wholeNumber } from '@relay/testbed';
import { loadSimulation } from './load-simulation.fixture.ts';
import { PLANTED } from './planted-bugs.fixture.ts';

const USAGE = `usage: npm run sim -- [--seeds N] [--from SEED] [--trace] [--planted N | --planted all]

Gateways, workers, stores and clients in simulated time, with random faults; then every request must be accounted for.
  --seeds N    how many runs (1)
  --from SEED  the seed of the first run (1); later runs count up from it
  --trace      print everything that happens
  --planted N  plant bug N, from 0 to ${PLANTED.length - 1}, and stop at the first run that finds it
               all: plant each of them in a process of its own, and fail if one is not found
`;
const SHOWN_MAX = 5;
const FOUND = /"failures":1}\n$/;

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '1' },
      from: { type: 'string', default: '1' },
      planted: { type: 'string' },
      trace: { type: 'boolean', default: false },
    },
  });
  const [first, seeds] = [wholeNumber('--from', values.from), wholeNumber('--seeds', values.seeds, 1)];
  if (values.planted === 'all') return findEach(first, seeds);
  const planted = values.planted === undefined ? null : wholeNumber('--planted', values.planted);
  const trace = values.trace ? (line: string) => void process.stdout.write(`${line}\n`) : null;
  const simulate = await loadSimulation(planted === null ? null : (PLANTED[planted] ?? null));
  let simulatedMs = 0;
  let failures = 0;
  let unnoticed = 0;
  let ran = 0;
  for (let seed = first; seed < first + seeds; seed += 1) {
    const { findings, ...run } = await simulate(seed, trace);
    simulatedMs += run.simulatedMs;
    ran += 1;
    unnoticed += run.unnoticedLosses;
    if (findings.length === 0) continue;
    failures += 1;
    process.stdout.write(`seed ${seed} (${run.faults.join(', ') || 'no faults'})\n`);
    for (const finding of findings.slice(0, SHOWN_MAX)) process.stdout.write(`  ${finding}\n`);
    if (planted !== null) break;
  }
  const hours = Math.round(simulatedMs / 36_000) / 100;
  process.stdout.write(
    `${JSON.stringify({ seeds: ran, simulated_hours: hours, unnoticed_losses: unnoticed, failures })}\n`,
  );
  return failures > 0 ? 1 : 0;
}

async function findEach(first: number, seeds: number): Promise<number> {
  const missed: string[] = [];
  for (const [index, { name }] of PLANTED.entries()) {
    const args = ['--seeds', seeds, '--from', first, '--planted', index].map(String);
    const output = await promisify(execFile)(process.execPath, [import.meta.filename, ...args]).then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );
    const found = FOUND.test(output);
    if (!found) missed.push(name);
    process.stdout.write(`${name}: ${found ? output.split(' (', 1)[0] : 'NOT FOUND'}\n`);
  }
  process.stdout.write(`${JSON.stringify({ planted: PLANTED.length, missed: missed.length })}\n`);
  return missed.length > 0 ? 1 : 0;
}

await runCommand(USAGE, main);
