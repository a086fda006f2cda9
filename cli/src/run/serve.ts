import { Command, Option } from 'commander';
import { exitCodes, Outcome, ProgramError } from '../kit/program-error.ts';

const ROLES = ['all', 'platform', 'inference', 'worker'] as const;

export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the server on PostgreSQL and Redis; settings come from the environment')
    .addOption(new Option('--role <role>', 'role of this process').choices(ROLES).default('all'))
    .action((options: { role: (typeof ROLES)[number] }) => runServer(options.role));
}

async function runServer(role: (typeof ROLES)[number]): Promise<void> {
  const isStarted = exitOnSignal();
  // Loaded here, because no other command needs the server.
  const { EnvironmentError, readEnvironment, serve, StartFailedError } = await import('@relay/server');
  let server: Awaited<ReturnType<typeof serve>>;
  try {
    server = await serve(readEnvironment(process.env, role), role);
  } catch (error) {
    if (error instanceof StartFailedError) throw new Outcome(exitCodes.error);
    if (!(error instanceof EnvironmentError)) throw error;
    throw new ProgramError(`The settings are invalid:\n${error.message}`);
  }
  const signaled = untilSignal();
  isStarted();
  await signaled;
  await server.stop();
}

/**
 * In a container this is the first process, for which the kernel ignores signals without a handler: one that waits for its stores
 * would only end by SIGKILL. Call the result once others handle them.
 */
export function exitOnSignal(): () => void {
  const onTerminate = () => process.exit(143);
  const onInterrupt = () => process.exit(130);
  process.on('SIGTERM', onTerminate).on('SIGINT', onInterrupt);
  return () => void process.off('SIGTERM', onTerminate).off('SIGINT', onInterrupt);
}

/** The first SIGTERM or SIGINT drains; a second one quits immediately. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const onSignal = () => {
      resolve();
      process.once('SIGTERM', () => process.exit(1));
      process.once('SIGINT', () => process.exit(1));
    };
    process.once('SIGTERM', onSignal);
    process.once('SIGINT', onSignal);
  });
}
