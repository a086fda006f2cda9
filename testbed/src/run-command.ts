/** A command line that is wrong: a person needs its message, not where it was thrown. */
export class UsageError extends Error {}

/**
 * Runs what a script of this repository does and sets the exit status: 2, after a message, for a command line that is wrong.
 * `--help` prints the usage. Processes that were started end with the script when it is interrupted.
 */
export async function runCommand(
  usage: string,
  main: (args: readonly string[]) => Promise<number>,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> {
  if (args.includes('--help')) {
    process.stdout.write(usage);
    return;
  }
  // `process.exit` runs the exit listeners, which end every started process by its ID.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  try {
    process.exitCode = await main(args);
  } catch (error) {
    if (!isUsageError(error)) throw error;
    process.stderr.write(`${error.message}\n\n${usage}`);
    process.exitCode = 2;
  }
}

/** The number of an option; `least` is the smallest that makes sense. */
export function wholeNumber(option: string, text: string, least = 0): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < least)
    throw new UsageError(`${option} must be a whole number, ${least} or more`);
  return value;
}

/** Returns RELAY_TEST_SEED, or a random seed. The script prints it, so that a run can be repeated. */
export function anySeed(): string {
  return process.env['RELAY_TEST_SEED'] || String(Math.floor(Math.random() * 1_000_000));
}

function isUsageError(error: unknown): error is Error {
  if (error instanceof UsageError) return true;
  const { code } = error as { code?: unknown };
  return error instanceof Error && typeof code === 'string' && code.startsWith('ERR_PARSE_ARGS_');
}
