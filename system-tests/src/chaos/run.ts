// `npm run chaos -- NAME [options]`: kills processes at chosen moments and checks that no request is lost. Ends with the number of
// checks and the figures as one JSON object.
import { parseArgs } from 'node:util';
import { anySeed, runCommand, UsageError, wholeNumber } from '@relay/testbed';
import { disk } from './disk.ts';
import { embedded } from './embedded.ts';
import { faults } from './faults.ts';
import { faultNames } from './plan.ts';
import { type SettleResult, settle } from './settle.ts';
import { sinks } from './sinks.ts';

const USAGE = `usage: npm run chaos -- [NAME] [--short] [--seed N] [--only FAULT]…

faults    without a NAME: everything that settle kills, plus frozen and isolated processes, one-way partitions, slow and broken
          connections, a Redis that lost some or all of its data, and more; under three loads, five times each; then
          the same comparison, and what the provider saw must not exceed any limit
settle    3 gateways, 2 workers, Redis and PostgreSQL, each killed with SIGKILL at chosen and at random moments under
          load; then every request that the provider saw must have one row, with the usage that the provider counted
embedded  \`relay start\`, killed with SIGKILL 50 times under a load of requests, streams and management writes, and started
          again on the same directory; then the same, and every acknowledged write must be there
sinks     2 workers, killed with SIGKILL 20 times under load, including between any two steps of writing a file; then the
          closed files must contain every ledger row once
disk      the disks of Redis and PostgreSQL fill up for a few seconds, 15 times under load; then the same as settle. Needs
          root, or sudo without a password, to mount its own file systems
          --short     for CI: each moment once; faults under one load; embedded with 5 kills
          --seed N    repeat the choices of an earlier run
          --only F    of faults, run only this one; may be repeated: ${faultNames.join(', ')}
`;

const WRONG_SHOWN_MAX = 20;
/** Each started process adds an exit listener. */
const PROCESSES_MAX = 100;

const chaoses: Readonly<Record<string, typeof settle>> = { faults, settle, embedded, sinks, disk };

function readOptions(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      short: { type: 'boolean', default: false },
      seed: { type: 'string', default: anySeed() },
      only: { type: 'string', multiple: true, default: [] },
    },
  });
  const unknown = values.only.filter((fault) => !faultNames.includes(fault));
  if (unknown.length > 0) throw new UsageError(`no fault is named ${unknown.join(', ')}`);
  return { ...values, seed: wholeNumber('--seed', values.seed), names: positionals };
}

function report({ checks, figures }: SettleResult): number {
  const failed = checks.filter(({ wrong }) => wrong.length > 0);
  for (const { name, wrong } of checks) {
    process.stdout.write(`${wrong.length === 0 ? 'ok' : 'FAILED'}  ${name}\n`);
    for (const line of wrong.slice(0, WRONG_SHOWN_MAX)) process.stdout.write(`          ${line}\n`);
    if (wrong.length > WRONG_SHOWN_MAX)
      process.stdout.write(`          and ${wrong.length - WRONG_SHOWN_MAX} more\n`);
  }
  process.stdout.write(`${checks.length - failed.length} passed, ${failed.length} failed\n`);
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  return failed.length === 0 ? 0 : 1;
}

async function main(args: readonly string[]): Promise<number> {
  const { names, short, seed, only } = readOptions(args);
  const [name = 'faults', ...others] = names;
  const chaos = chaoses[name];
  if (chaos === undefined || others.length > 0)
    throw new UsageError(
      `no chaos run is named ${names.join(' ')}; use one of: ${Object.keys(chaoses).join(', ')}`,
    );
  process.setMaxListeners(PROCESSES_MAX);
  const startMs = performance.now();
  const say = (line: string) => {
    const seconds = ((performance.now() - startMs) / 1_000).toFixed(1).padStart(6);
    process.stdout.write(`${seconds} s  ${line}\n`);
  };
  say(`${name}, seed ${seed}`);
  return report(await chaos({ short, seed, only, say }));
}

await runCommand(USAGE, main);
