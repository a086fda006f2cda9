// `npm run bench -- NAME [options]`: runs one bench, which closes with its figures as one JSON object.
import { ADMISSION_USAGE } from './admission/settings.ts';
import { admission } from './admission.ts';
import { CONSOLE_USAGE, console as consoleBench } from './console.ts';
import { GUARDRAILS_USAGE, guardrails } from './guardrails.ts';
import { IDLE_USAGE, idle } from './idle.ts';
import { KEYS_USAGE, keys } from './keys.ts';
import { LEDGER_USAGE, ledger } from './ledger.ts';
import { OVERHEAD_USAGE } from './overhead/settings.ts';
import { overhead } from './overhead.ts';
import { OVERLOAD_USAGE, overload } from './overload.ts';
import { PROTOCOLS_USAGE, protocols } from './protocols.ts';
import { SCALE_USAGE, scale } from './scale.ts';

const benches: Readonly<Record<string, (args: readonly string[]) => Promise<unknown>>> = {
  overhead,
  overload,
  guardrails,
  protocols,
  admission,
  scale,
  keys,
  ledger,
  idle,
  console: consoleBench,
};

const USAGE = `usage: npm run bench -- NAME [options]

${OVERHEAD_USAGE}

${OVERLOAD_USAGE}

${GUARDRAILS_USAGE}

${PROTOCOLS_USAGE}

${ADMISSION_USAGE}

${SCALE_USAGE}

${KEYS_USAGE}

${LEDGER_USAGE}

${IDLE_USAGE}

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
