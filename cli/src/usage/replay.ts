import { Command } from 'commander';
import { dataDirectoryOf } from '../kit/data-directory.ts';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { type OutputOptions, withOutput } from '../output/options.ts';
import { printObject } from '../output/print.ts';

interface ReplayFlags extends OutputOptions {
  readonly dataDir?: string;
}

export function replayCommand(surroundings: Surroundings): Command {
  const command = new Command('replay')
    .description(
      'Replay usage that the ledger rejected, each request once. Needs the worker’s DATABASE_URL and RELAY_MASTER_KEY; ' +
        'without DATABASE_URL, uses the data directory of a stopped `relay start`',
    )
    .option(
      '--data-dir <dir>',
      'data directory of `relay start` (default: $RELAY_DATA_DIR, or ./relay-data)',
    );
  return withOutput(command).action((_flags: ReplayFlags, self: Command) =>
    replay(surroundings, self.optsWithGlobals<ReplayFlags>()),
  );
}

async function replay(surroundings: Surroundings, flags: ReplayFlags): Promise<void> {
  const { env } = surroundings;
  const isOnServer = flags.dataDir === undefined && (env['DATABASE_URL']?.trim() ?? '') !== '';
  const directory = isOnServer ? null : dataDirectoryOf(flags.dataDir, surroundings);
  // Loaded here, because most commands do not need the server.
  const { DirectoryInUseError, EnvironmentError, replayRefusedUsage, SecretsError } = await import(
    '@relay/server'
  );
  try {
    await printObject(surroundings, flags, await replayRefusedUsage(env, directory));
  } catch (error) {
    if (error instanceof EnvironmentError)
      throw new ProgramError(`The settings are invalid:\n${error.message}`);
    if (error instanceof SecretsError) throw new ProgramError(error.message);
    if (error instanceof DirectoryInUseError)
      throw new ProgramError(error.message, exitCodes.error, { fix: 'Stop that process, then try again.' });
    throw error;
  }
}
