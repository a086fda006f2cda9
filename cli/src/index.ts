import { Command, CommanderError } from 'commander';
import { contextKeyCommand } from './context-key.ts';
import { migrateCommand } from './migrate.ts';
import { ProgramError } from './program-error.ts';
import { serveCommand } from './serve.ts';

const EXIT_ERROR = 1;
const EXIT_USAGE = 2;

/** Runs the command line and answers the exit code: 0 ok, 1 error, 2 usage. */
export async function run(argv: readonly string[]): Promise<number> {
  const program = new Command('relay')
    .description('The Relay gateway: serve it and look after its database.')
    .showHelpAfterError('(relay --help lists the commands)')
    .exitOverride();
  for (const command of [serveCommand(), migrateCommand(), contextKeyCommand()])
    program.addCommand(command.exitOverride());
  try {
    await program.parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    if (error instanceof ProgramError) {
      process.stderr.write(`relay: ${error.message}\n`);
      return error.exitCode;
    }
    process.stderr.write(`relay: ${error instanceof Error ? error.message : String(error)}\n`);
    return EXIT_ERROR;
  }
}
