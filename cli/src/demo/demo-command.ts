import { Command, InvalidArgumentError } from 'commander';
import { unreachable } from '../api/unreachable.ts';
import { dataDirectoryOf } from '../kit/data-directory.ts';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { count, numberText } from '../output/cells.ts';
import { type OutputOptions, withOutput } from '../output/options.ts';
import { printObject } from '../output/print.ts';
import { findStarted, findStartedIn } from '../session/local-server.ts';
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
  const demo = new Command('demo').description('Send sample traffic to `relay start --demo`');
  const traffic = demo
    .command('traffic')
    .description(
      'Send sample traffic to the demo: streaming and non-streaming responses, fallbacks, waits, blocked prompts and cancelled ' +
        'requests',
    )
    .option('--requests <number>', 'number of requests', wholeUpTo(REQUESTS_MAX), 120)
    .option('--per-second <number>', 'requests per second', wholeUpTo(PER_SECOND_MAX), 6)
    .option('--data-dir <dir>', 'data directory of the demo (default: $RELAY_DATA_DIR, or ./relay-data)');
  withOutput(traffic).action((flags: TrafficFlags) => runTraffic(surroundings, flags));
  return demo;
}

async function runTraffic(surroundings: Surroundings, flags: TrafficFlags): Promise<void> {
  const directory = dataDirectoryOf(flags.dataDir, surroundings);
  if ((await readDemoState(directory)) === null)
    throw new ProgramError(`No demo in ${directory}.`, exitCodes.notFound, {
      fix: 'Start one, or add --data-dir DIR. Run: `relay start --demo`',
    });
  const local = await findStarted(surroundings, flags.dataDir);
  const server = local ?? (await findStartedIn(directory));
  if (server === null)
    throw new ProgramError(`The demo in ${directory} is not running.`, exitCodes.notFound, {
      fix: 'Run: `relay start --demo`',
    });
  const { url, apiToken } = server;
  if (apiToken === null)
    throw new ProgramError(`${directory}/secrets.json has no API token.`, exitCodes.auth, {
      fix:
        local === null
          ? 'Restart the demo without RELAY_API_TOKEN in its environment, or restart it with --host 127.0.0.1 and set RELAY_API_TOKEN here to the same token.'
          : 'Set RELAY_API_TOKEN to the API token that the demo was started with.',
    });
  await fetch(`${url}/livez`).catch((error: unknown) => {
    throw unreachable(url, error);
  });
  const stopping = new AbortController();
  const forget = surroundings.onInterrupt(() => stopping.abort());
  surroundings.stderr.write(
    `Sending ${count(flags.requests, 'request')} to ${url}, ${flags.perSecond} per second …\n`,
  );
  const { requests, perSecond } = flags;
  const counts = await sendTraffic({ url, apiToken, requests, perSecond, signal: stopping.signal });
  forget();
  await printObject(surroundings, flags, counts);
}

function wholeUpTo(max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || number < 1 || number > max)
      throw new InvalidArgumentError(`It must be a whole number from 1 to ${numberText(max)}.`);
    return number;
  };
}
