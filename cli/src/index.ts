import { CommanderError } from 'commander';
import { exitCodes, Outcome, ProgramError } from './kit/program-error.ts';
import { processSurroundings, type Surroundings } from './kit/surroundings.ts';
import { writeError } from './output/write-error.ts';
import { commandNameOf, createProgram } from './program.ts';

export { exitCodes } from './kit/program-error.ts';
export { processSurroundings, type Surroundings } from './kit/surroundings.ts';
export { createProgram } from './program.ts';

const SERVERS: readonly string[] = ['serve', 'start'];

/** Runs a command line in this process and returns the exit code; docs/reference/cli.md lists the codes. */
export async function run(argv: readonly string[]): Promise<number> {
  const surroundings = processSurroundings();
  // The reader may close the pipe, as in `relay requests list | head -1`.
  surroundings.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.ok);
  });
  const isServer = SERVERS.includes(commandNameOf(argv));
  // Prints unexpected errors like expected ones. A server has its own handler.
  if (!isServer) {
    process.on('uncaughtException', (error) => {
      writeError(surroundings, error);
      process.exit(exitCodes.error);
    });
  }
  const exitCode = await runIn(surroundings, argv);
  // Open connections of a failed start, or to a store that hangs, would keep the process alive.
  if (isServer) process.exit(exitCode);
  return exitCode;
}

/** The same with other surroundings than those of the process, also several concurrently; but not for a server. */
export async function runIn(surroundings: Surroundings, argv: readonly string[]): Promise<number> {
  try {
    const program = await createProgram(surroundings, argv);
    await program.parseAsync(argv, { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (error instanceof Outcome) return error.exitCode;
    writeError(surroundings, error);
    return error instanceof ProgramError ? error.exitCode : exitCodes.error;
  }
}
