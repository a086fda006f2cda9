// `npm run bench -- NAME [options]`: runs one bench, which closes with its figures as one JSON object.
import { runCommand, UsageError } from '@relay/testbed';
import { ADMISSION_USAGE } from './admission/settings.ts';
import { admission } from './admission.ts';
import { CONSOLE_USAGE, console as consoleBench } from './console.ts';
import { COST_USAGE, cost } from './cost.ts';
import { GUARDRAILS_USAGE, guardrails } from './guardrails.ts';
import { IDLE_USAGE, idle } from './idle.ts';
import { INPUT_BOUND_USAGE, inputBound } from './input-bound.ts';
import { KEYS_USAGE, keys } from './keys.ts';
import { LEDGER_USAGE, ledger } from './ledger.ts';
import { OVERHEAD_USAGE } from './overhead/settings.ts';
import { overhead } from './overhead.ts';
import { OVERLOAD_USAGE, overload } from './overload.ts';
import { PROTOCOLS_USAGE, protocols } from './protocols.ts';
import { SCALE_USAGE, scale } from './scale.ts';
import { START_USAGE, start } from './start.ts';
import { TELEMETRY_USAGE, telemetry } from './telemetry.ts';

const benches: Readonly<Record<string, (args: readonly string[]) => Promise<unknown>>> = {
  cost,
  overhead,
  overload,
  guardrails,
  protocols,
  telemetry,
  admission,
  scale,
  keys,
  ledger,
  idle,
  start,
  'input-bound': inputBound,
  console: consoleBench,
};

const USAGE = `usage: npm run bench -- NAME [options]

${COST_USAGE}

${OVERHEAD_USAGE}

${OVERLOAD_USAGE}

${GUARDRAILS_USAGE}

${PROTOCOLS_USAGE}

${TELEMETRY_USAGE}

${ADMISSION_USAGE}

${SCALE_USAGE}

${KEYS_USAGE}

${LEDGER_USAGE}

${IDLE_USAGE}

${START_USAGE}

${INPUT_BOUND_USAGE}

${CONSOLE_USAGE}
`;

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined) throw new UsageError('NAME is missing');
  const bench = benches[name];
  if (bench === undefined)
    throw new UsageError(`no benchmark is named ${name}; use one of: ${Object.keys(benches).join(', ')}`);
  const figures = await bench(args);
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  return Number(process.exitCode ?? 0);
}

await runCommand(USAGE, main);
