import type { StartedServer } from '@relay/server';
import { Command, Option } from 'commander';
import type { Demo } from '../demo/start-demo.ts';
import { dataDirectoryOf } from '../kit/data-directory.ts';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import { InterruptedError } from '../kit/prompt.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { codeOf } from '../kit/values.ts';
import { writeError } from '../output/write-error.ts';
import { untilSignal } from './serve.ts';
import { firstAnswerText, startedText } from './started-text.ts';

interface StartFlags {
  readonly dataDir?: string;
  readonly host?: string;
  readonly port?: number;
  readonly demo: boolean;
  readonly detect: boolean;
}

export function startCommand(surroundings: Surroundings): Command {
  return new Command('start')
    .description(
      'run everything in one process, with all data in one directory: no database and no Redis. Tokens are made on the ' +
        'first start and printed once. Other settings come from the environment, as for `relay serve`.',
    )
    .option('--data-dir <dir>', 'where everything is kept (default: $RELAY_DATA_DIR, or ./relay-data)')
    .option('--port <port>', 'where to listen (default: 8080)', parsePort)
    .option('--host <host>', 'on which address to listen; 0.0.0.0 is all of them (default: 127.0.0.1)')
    .option('--demo', 'with a simulated provider, a lane, limits and a guardrail to try', false)
    .option(
      '--detect',
      'set up a provider, endpoints and the lane default for OPENAI_API_KEY, ANTHROPIC_API_KEY and a running Ollama',
      false,
    )
    .addOption(new Option('--role <role>').hideHelp().argParser(refuseSeveral))
    .addOption(new Option('--replicas <number>').hideHelp().argParser(refuseSeveral))
    .action((flags: StartFlags) => runStart(surroundings, flags));
}

async function runStart(surroundings: Surroundings, flags: StartFlags): Promise<void> {
  const { stdout, env } = surroundings;
  const directory = dataDirectoryOf(flags.dataDir, surroundings);
  const demo = flags.demo
    ? await (await import('../demo/start-demo.ts')).startDemo(surroundings, directory)
    : null;
  let server: StartedServer;
  try {
    server = await startServer(flags, directory, withDemo(env, demo));
    if (demo !== null && server.tokens !== null)
      await demo.configure({ url: server.url, adminToken: server.tokens.admin });
  } catch (error) {
    await demo?.close();
    throw error;
  }
  // Registered before printing, because a reader may stop the server right after.
  const stopping = untilSignal();
  stdout.write(startedText(server, demo?.lane ?? null));
  await server.noteShown();
  await offerUntilStopped(surroundings, server, flags, stopping);
  await stopping;
  if (stdout.isTTY)
    stdout.write('\nRelay is stopping: open requests may finish. Once more to stop at once.\n');
  await server.stop();
  await demo?.close();
}

/** Offers to set up the gateway while it runs. An error here, or no answer, must not end it. */
async function offerUntilStopped(
  surroundings: Surroundings,
  server: StartedServer,
  { demo, detect }: StartFlags,
  stopping: Promise<void>,
): Promise<void> {
  if (server.tokens === null || (demo && !detect)) return;
  const { offerSetup } = await import('./offer-setup.ts');
  const stopped = new AbortController();
  void stopping.then(() => stopped.abort());
  const { url, directory, tokens } = server;
  const tryLane = (lane: string) => firstAnswerText(server, lane);
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
): Promise<StartedServer> {
  // Loaded here, because no other command needs the server.
  const { DirectoryInUseError, EnvironmentError, SecretsError, start } = await import('@relay/server');
  try {
    return await start({ source, directory, host, port });
  } catch (error) {
    if (error instanceof EnvironmentError)
      throw new ProgramError(`the settings cannot be used:\n${error.message}`);
    if (error instanceof DirectoryInUseError)
      throw new ProgramError(error.message, exitCodes.error, {
        why: '`relay start` is one process with its data to itself; several replicas need `relay serve` with PostgreSQL and Redis',
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
    EADDRINUSE: 'something listens there',
    EACCES: 'it is not allowed',
    EADDRNOTAVAIL: 'this machine has no such address',
  };
  return new ProgramError(`port ${port} cannot be listened on: ${why[code]}`, exitCodes.error, {
    fix: 'choose another with --port and --host',
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
    throw usageError(`--port ${text} is no port: it must be a whole number from 1 to 65535`);
  return port;
}

function refuseSeveral(): never {
  throw usageError(
    '`relay start` is every role in one process, and one process only',
    'for roles or replicas of their own use `relay serve` with PostgreSQL and Redis; `relay migrate --from DIR --to DATABASE_URL` carries over what a data directory holds',
  );
}
