// `npm run fuzz -- --inputs N [--seed N] [--only TARGET]`: malformed and nearly right input for everything that reads bytes of others.
// Part of it is read in process, the rest is sent to two running deployments. The last line is one JSON object.
import { parseArgs } from 'node:util';
import { runInputs } from './fuzz.ts';
import { fuzzParsers } from './parsers.ts';
import { targetNames } from './targets.ts';

const USAGE = `usage: npm run fuzz -- [--inputs N] [--seed N] [--only TARGET] [--replay INDEX]

--inputs N      how many, all together (20000)
--only TARGET   one of: parsers, ${targetNames.join(', ')}
--replay INDEX  sends one input of the seed again, and shows what came back
`;

/** Of the inputs, those that the parsers read in process. */
const PARSERS_SHARE = 0.4;
const PROCESSES_MAX = 100;

function readOptions() {
  const { values } = parseArgs({
    options: {
      inputs: { type: 'string', default: '20000' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
      only: { type: 'string' },
      replay: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const [inputs, seed] = [Number(values.inputs), Number(values.seed)];
  if (!Number.isSafeInteger(inputs) || inputs < 1) throw new Error('--inputs must be a positive integer');
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error('--seed must be a whole number');
  const known = values.only === undefined || ['parsers', ...targetNames].includes(values.only);
  if (!known)
    throw new Error(`no target called ${values.only}; there are: parsers, ${targetNames.join(', ')}`);
  return { ...values, inputs, seed };
}

async function main(): Promise<number> {
  const options = readOptions();
  if (options.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  // The exit listeners kill the started processes by their id.
  process.setMaxListeners(PROCESSES_MAX);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  const { inputs, seed, only } = options;
  const inProcess = only === 'parsers' ? inputs : only === undefined ? Math.round(inputs * PARSERS_SHARE) : 0;
  const replayed = options.replay === undefined ? null : Number(options.replay);
  const parsers = inProcess === 0 || replayed !== null ? null : await fuzzParsers(inProcess, seed);
  const sent =
    only === 'parsers' ? null : await runInputs({ inputs: inputs - inProcess, seed, only, replayed });
  const figures = {
    inputs: (parsers?.inputs ?? 0) + (sent?.inputs ?? 0),
    crashes: (parsers?.crashes ?? 0) + (sent?.crashes ?? 0),
    off_contract: sent?.off_contract ?? 0,
    five_xx: sent?.five_xx ?? 0,
    lost: sent?.lost ?? 0,
    duplicated: sent?.duplicated ?? 0,
    by_target: { ...(parsers === null ? {} : { parsers: parsers.inputs }), ...sent?.by_target },
    seed,
    seconds: Math.round(performance.now() / 1_000),
  };
  const { crashes, off_contract, five_xx, lost, duplicated } = figures;
  const failed = crashes + off_contract + five_xx + lost + duplicated;
  process.stdout.write(`${failed === 0 ? '1 passed, 0 failed' : '0 passed, 1 failed'}\n`);
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main();
