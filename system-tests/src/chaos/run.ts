// `npm run chaos -- NAME [options]`: kills processes at chosen moments and checks that no request is lost. Ends with the number of
// checks and the figures as one JSON object.
import { parseArgs } from 'node:util';
import { embedded } from './embedded.ts';
import { faults } from './faults.ts';
import { faultNames } from './plan.ts';
import { type SettleResult, settle } from './settle.ts';
import { sinks } from './sinks.ts';

const USAGE = `usage: npm run chaos -- [NAME] [--short] [--seed N] [--only FAULT]…

faults    without a NAME: everything that settle kills, and processes frozen and cut off, one-way partitions, slow and broken
          connections, a Redis that lost some or all of what it held, and more; under three loads, five times each; then
          the same comparison, and no limit may have been exceeded by what the provider saw
settle    3 gateways, 2 workers, Redis and PostgreSQL, each killed with SIGKILL at chosen and at random moments under
          load; then every request that the provider saw must have one row, with what the provider counted
embedded  \`relay start\`, killed with SIGKILL 50 times under load of requests, streams and management writes, and started
          again on the same directory; then the same, and every write that was answered must be there
sinks     2 workers, killed with SIGKILL 20 times under load, also between each two steps of writing a file; then the
          closed files must hold every row of the ledger once
          --short     for CI: each moment once; faults under one load; 5 kills of the embedded one
          --seed N    the same choices again
          --only F    of faults, only this one; may be repeated: ${faultNames.join(', ')}
`;

const WRONG_SHOWN_MAX = 20;
/** Each started process adds an exit listener. */
const PROCESSES_MAX = 100;

const chaoses: Readonly<Record<string, typeof settle>> = { faults, settle, embedded, sinks };

function readOptions(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      short: { type: 'boolean', default: false },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
      only: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', default: false },
    },
  });
  const seed = Number(values.seed);
  const unknown = values.only.filter((fault) => !faultNames.includes(fault));
  if (unknown.length > 0) throw new Error(`there is no fault called ${unknown.join(', ')}`);
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error('--seed must be a whole number');
  return { ...values, seed, names: positionals };
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
  const { names, short, seed, only, help } = readOptions(args);
  const [name = 'faults', ...others] = names;
  if (help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const chaos = chaoses[name];
  if (chaos === undefined || others.length > 0) {
    process.stderr.write(
      `no chaos called ${names.join(' ')}; there are: ${Object.keys(chaoses).join(', ')}\n`,
    );
    return 2;
  }
  // The exit listeners kill the started processes by their id.
  process.setMaxListeners(PROCESSES_MAX);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  const startMs = performance.now();
  const say = (line: string) => {
    const seconds = ((performance.now() - startMs) / 1_000).toFixed(1).padStart(6);
    process.stdout.write(`${seconds} s  ${line}\n`);
  };
  say(`${name}, seed ${seed}`);
  return report(await chaos({ short, seed, only, say }));
}

process.exitCode = await main(process.argv.slice(2));
