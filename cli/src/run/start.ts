import type { StartedServer, StartStep } from '@relay/server';
import { Command, Option } from 'commander';
import type { Demo } from '../demo/start-demo.ts';
import { dataDirectoryOf } from '../kit/data-directory.ts';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import { InterruptedError } from '../kit/prompt.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { codeOf } from '../kit/values.ts';
import { writeError } from '../output/write-error.ts';
import { forgetLocalServer, noteLocalServer } from '../session/local-server.ts';
import { exitOnSignal, untilSignal } from './serve.ts';
import { firstAnswerText, startedText } from './started-text.ts';

interface StartFlags {
  readonly dataDir?: string;
  readonly host?: string;
  readonly port?: number;
  readonly demo: boolean;
  readonly detect: boolean;
}

const STEPS: Readonly<Record<StartStep, string>> = {
  creating_database: 'Creating the database (first start only, a few seconds)',
  opening_database: 'Opening the database',
};

export function startCommand(surroundings: Surroundings): Command {
  return new Command('start')
    .description(
      'Run Relay in one process, with all data in one directory and no other database. The first start creates tokens and ' +
        'prints them once. Other settings come from the environment, as for `relay serve`',
    )
    .option('--data-dir <dir>', 'data directory (default: $RELAY_DATA_DIR, or ./relay-data)')
    .option('--port <port>', 'port to listen on (default: 8080)', parsePort)
    .option('--host <host>', 'address to listen on; 0.0.0.0 for all (default: 127.0.0.1)')
    .option('--demo', 'add a simulated provider, a lane, limits and a guardrail', false)
    .option(
      '--detect',
      'add providers whose key is in the environment, and a running Ollama, vLLM or LM Studio, to the lane named default',
      false,
    )
    .addOption(new Option('--role <role>').hideHelp().argParser(refuseSeveral))
    .addOption(new Option('--replicas <number>').hideHelp().argParser(refuseSeveral))
    .action((flags: StartFlags) => runStart(surroundings, flags));
}

async function runStart(surroundings: Surroundings, flags: StartFlags): Promise<void> {
  const isStarted = exitOnSignal();
  const { stdout, stderr, env } = surroundings;
  const directory = dataDirectoryOf(flags.dataDir, surroundings);
  // Before anything is loaded, which takes longer than people wait for a sign of life.
  stderr.write(`\n  Starting Relay in ${directory}\n`);
  const say = (line: string) => stderr.write(`  ${line}\n`);
  const demo = flags.demo
    ? await (await import('../demo/start-demo.ts')).startDemo(surroundings, directory)
    : null;
  let server: StartedServer;
  try {
    server = await startServer(flags, directory, withDemo(env, demo), (step) => say(STEPS[step]));
    if (demo !== null && server.tokens !== null) {
      if (server.newTokens.admin) say('Setting up the demo');
      await demo.configure({ url: server.url, adminToken: server.tokens.admin });
    }
  } catch (error) {
    await demo?.close();
    throw error;
  }
  // Registered before printing, because a reader may stop the server right after.
  const stopping = untilSignal();
  isStarted();
  await noteLocalServer(directory, server.url);
  // Output that is not a terminal is often kept as a log, where a link that signs in must not be.
  const withLink = stdout.isTTY || server.newTokens.admin;
  stdout.write(startedText(server, demo?.lane ?? null, withLink));
  await server.noteShown();
  await offerUntilStopped(surroundings, server, { ...flags, withLink }, stopping);
  await stopping;
  if (stdout.isTTY)
    stdout.write('\nRelay is draining: requests in flight finish first. Press Ctrl+C again to force quit.\n');
  await server.stop();
  await forgetLocalServer(directory, server.url);
  await demo?.close();
}

/** Offers to set up the gateway while it runs. An error here, or no answer, must not end it. */
async function offerUntilStopped(
  surroundings: Surroundings,
  server: StartedServer,
  { demo, detect, withLink }: StartFlags & { readonly withLink: boolean },
  stopping: Promise<void>,
): Promise<void> {
  if (server.tokens === null || (demo && !detect)) return;
  const { offerSetup } = await import('./offer-setup.ts');
  const stopped = new AbortController();
  void stopping.then(() => stopped.abort());
  const { url, directory, tokens } = server;
  const tryLane = (lane: string) => firstAnswerText(server, lane, withLink);
  const offered = {
    url,
    directory,
    adminToken: tokens.admin,
    tryLane,
    isWanted: detect,
    signal: stopped.signal,
  };
  try {
    await offerSetup(surroundings, offered);
  } catch (error) {
    // A question takes the keys of the terminal, and Ctrl+C with them.
    if (error instanceof InterruptedError) process.kill(process.pid, 'SIGINT');
    else if (!stopped.signal.aborted) writeError(surroundings, error);
  }
}

async function startServer(
  { host, port }: StartFlags,
  directory: string,
  source: Surroundings['env'],
  onStep: (step: StartStep) => void,
): Promise<StartedServer> {
  // Loaded here, because no other command needs the server.
  const { DirectoryInUseError, EnvironmentError, SecretsError, start } = await import('@relay/server');
  try {
    return await start({ source, directory, host, port, onStep });
  } catch (error) {
    if (error instanceof EnvironmentError)
      throw new ProgramError(`The settings are invalid:\n${error.message}`);
    if (error instanceof DirectoryInUseError)
      throw new ProgramError(error.message, exitCodes.error, {
        why: '`relay start` is a single process. For replicas, use `relay serve` with PostgreSQL and Redis.',
      });
    if (error instanceof SecretsError) throw new ProgramError(error.message);
    throw readable(error);
  }
}

function readable(error: unknown): unknown {
  const code = codeOf(error);
  const port = error instanceof Error && 'port' in error ? error.port : undefined;
  if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL') return error;
  if (typeof port !== 'number' || port < 1) return error;
  const why = {
    EADDRINUSE: 'another process is using it',
    EACCES: 'this user lacks permission',
    EADDRNOTAVAIL: 'this machine does not have the address',
  };
  return new ProgramError(`Relay can't listen on port ${port}: ${why[code]}.`, exitCodes.error, {
    fix: 'Choose another with --port or --host.',
  });
}

/** Also allows the simulated provider's address. */
function withDemo(env: Surroundings['env'], demo: Demo | null): Surroundings['env'] {
  if (demo === null) return env;
  const networks = [env['RELAY_ALLOW_PRIVATE_NETWORKS'] ?? '', demo.privateNetworks];
  return { ...env, RELAY_ALLOW_PRIVATE_NETWORKS: networks.filter((each) => each !== '').join(',') };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535)
    throw usageError(`--port ${text} is not a valid port. It must be a whole number from 1 to 65535.`);
  return port;
}

function refuseSeveral(): never {
  throw usageError(
    '`relay start` runs all roles in a single process.',
    'For separate roles or replicas, use `relay serve` with PostgreSQL and Redis. To move the data, run: `relay migrate --from DIR --to DATABASE_URL`',
  );
}
