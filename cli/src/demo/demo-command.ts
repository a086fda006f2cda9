import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { unreachable } from '../api/unreachable.ts';
import { dataDirectoryOf } from '../kit/data-directory.ts';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import { parseJson } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { isObject } from '../kit/values.ts';
import { type OutputOptions, withOutput } from '../output/options.ts';
import { printObject } from '../output/print.ts';
import { readDemoState } from './demo-state.ts';
import { sendTraffic } from './traffic.ts';

interface TrafficFlags extends OutputOptions {
  readonly dataDir?: string;
  readonly requests: number;
  readonly perSecond: number;
}

const REQUESTS_MAX = 10_000;
const PER_SECOND_MAX = 50;

export function demoCommand(surroundings: Surroundings): Command {
  const demo = new Command('demo').description('for a gateway that runs with `relay start --demo`');
  const traffic = demo
    .command('traffic')
    .description(
      'send the demo requests of every kind, so that there is something to look at: whole and streamed answers, ' +
        'fallbacks, waits, blocked texts, clients that leave',
    )
    .option('--requests <number>', 'how many', wholeUpTo(REQUESTS_MAX), 120)
    .option('--per-second <number>', 'how fast', wholeUpTo(PER_SECOND_MAX), 6)
    .option('--data-dir <dir>', 'where the demo keeps its data (default: $RELAY_DATA_DIR, or ./relay-data)');
  withOutput(traffic).action((flags: TrafficFlags) => runTraffic(surroundings, flags));
  return demo;
}

async function runTraffic(surroundings: Surroundings, flags: TrafficFlags): Promise<void> {
  const directory = dataDirectoryOf(flags.dataDir, surroundings);
  const state = await readDemoState(directory);
  if (state?.url == null)
    throw new ProgramError(`There is no demo in ${directory}.`, exitCodes.notFound, {
      fix: 'run `relay start --demo`, or name its directory with --data-dir',
    });
  const { url } = state;
  await fetch(`${url}/livez`).catch((error: unknown) => {
    throw unreachable(url, error);
  });
  const stopping = new AbortController();
  const forget = surroundings.onInterrupt(() => stopping.abort());
  surroundings.stderr.write(`Sending ${flags.requests} requests to ${url}, ${flags.perSecond} a second …\n`);
  const counts = await sendTraffic({
    url,
    apiToken: await apiTokenOf(surroundings, directory),
    requests: flags.requests,
    perSecond: flags.perSecond,
    signal: stopping.signal,
  });
  forget();
  await printObject(surroundings, flags, counts);
}

/** The environment overrides the data directory, as in the server. */
async function apiTokenOf({ env }: Surroundings, directory: string): Promise<string> {
  const path = join(directory, 'secrets.json');
  const kept = await readFile(path, 'utf8').catch(() => '{}');
  const secrets = parseJson(kept, path);
  const given = env['RELAY_API_TOKEN'] || (isObject(secrets) ? secrets['RELAY_API_TOKEN'] : undefined);
  if (typeof given !== 'string')
    throw new ProgramError(`${path} holds no API token.`, exitCodes.auth, { fix: 'set RELAY_API_TOKEN' });
  return given;
}

function wholeUpTo(max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || number < 1 || number > max)
      throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
    return number;
  };
}
