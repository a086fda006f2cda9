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
  let environment: ReturnType<typeof readEnvironment>;
  try {
    environment = readEnvironment(process.env, role);
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    throw new ProgramError(`the settings cannot be used:\n${error.message}`);
  }
  const server = await serve(environment, role);
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
