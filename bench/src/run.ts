// `npm run bench -- NAME [options]`: runs one bench, which closes with its figures as one JSON object.
import { ADMISSION_USAGE, admission } from './admission.ts';
import { CONSOLE_USAGE, console as consoleBench } from './console.ts';
import { GUARDRAILS_USAGE, guardrails } from './guardrails.ts';
import { KEYS_USAGE, keys } from './keys.ts';
import { LEDGER_USAGE, ledger } from './ledger.ts';
import { OVERHEAD_USAGE } from './overhead/settings.ts';
import { overhead } from './overhead.ts';

const benches: Readonly<Record<string, (args: readonly string[]) => Promise<unknown>>> = {
  overhead,
  guardrails,
  admission,
  keys,
  ledger,
  console: consoleBench,
};

const USAGE = `usage: npm run bench -- NAME [options]

${OVERHEAD_USAGE}

${GUARDRAILS_USAGE}

${ADMISSION_USAGE}

${KEYS_USAGE}

${LEDGER_USAGE}

${CONSOLE_USAGE}
`;

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined || name === '--help' || args.includes('--help')) {
    process.stdout.write(USAGE);
    return name === undefined ? 2 : 0;
  }
  const bench = benches[name];
  if (bench === undefined) {
    process.stderr.write(`no bench called ${name}; there are: ${Object.keys(benches).join(', ')}\n`);
    return 2;
  }
  // `process.exit` runs the exit listeners, which end every started process by its ID.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  const figures = await bench(args);
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
