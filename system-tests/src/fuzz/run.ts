// `npm run fuzz -- --inputs N [--seed N] [--only TARGET]`: malformed and nearly right input for everything that reads bytes of others.
// Part of it is read in process, the rest is sent to two running deployments. The last line is one JSON object.
import { parseArgs } from 'node:util';
import { anySeed, runCommand, UsageError, wholeNumber } from '@relay/testbed';
import { runInputs } from './fuzz.ts';
import { fuzzParsers } from './parsers.ts';
import { targetNames } from './targets.ts';

const USAGE = `usage: npm run fuzz -- [--inputs N] [--seed N] [--only TARGET] [--replay INDEX]

--inputs N      total number of inputs (20000)
--only TARGET   one of: parsers, ${targetNames.join(', ')}
--replay INDEX  send one input of the seed again, and show the response
`;

/** Of the inputs, those that the parsers read in process. */
const PARSERS_SHARE = 0.4;
const PROCESSES_MAX = 100;

function readOptions(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      inputs: { type: 'string', default: '20000' },
      seed: { type: 'string', default: anySeed() },
      only: { type: 'string' },
      replay: { type: 'string' },
    },
  });
  const known = values.only === undefined || ['parsers', ...targetNames].includes(values.only);
  if (!known)
    throw new UsageError(`no target is named ${values.only}; use one of: parsers, ${targetNames.join(', ')}`);
  return {
    inputs: wholeNumber('--inputs', values.inputs, 1),
    seed: wholeNumber('--seed', values.seed),
    only: values.only,
    replayed: values.replay === undefined ? null : wholeNumber('--replay', values.replay),
  };
}

async function main(args: readonly string[]): Promise<number> {
  const { inputs, seed, only, replayed } = readOptions(args);
  process.setMaxListeners(PROCESSES_MAX);
  const inProcess = only === 'parsers' ? inputs : only === undefined ? Math.round(inputs * PARSERS_SHARE) : 0;
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

await runCommand(USAGE, main);
