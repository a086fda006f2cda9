import { Command, Option } from 'commander';
import { ProgramError } from '../kit/program-error.ts';

const ROLES = ['all', 'platform', 'inference', 'worker'] as const;

export function serveCommand(): Command {
  return new Command('serve')
    .description('run the server; settings come from the environment')
    .addOption(new Option('--role <role>', 'what this process does').choices(ROLES).default('all'))
    .action((options: { role: (typeof ROLES)[number] }) => runServer(options.role));
}

async function runServer(role: (typeof ROLES)[number]): Promise<void> {
  // Loaded here, because no other command needs the server.
  const { EnvironmentError, readEnvironment, serve } = await import('@relay/server');
  let server: Awaited<ReturnType<typeof serve>>;
  try {
    server = await serve(readEnvironment(process.env, role), role);
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    throw new ProgramError(`the settings cannot be used:\n${error.message}`);
  }
  await untilSignal();
  await server.stop();
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
