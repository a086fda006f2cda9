import { Command } from 'commander';
import { dataDirectoryOf } from '../kit/data-directory.ts';
import { databaseUrlOf } from '../kit/database-url.ts';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { type OutputOptions, withOutput } from '../output/options.ts';
import { printObject } from '../output/print.ts';

const DEFAULT_URL = 'http://127.0.0.1:8080';

interface ResetFlags extends OutputOptions {
  readonly dataDir?: string;
  readonly url?: string;
  readonly removeSecondFactor?: boolean;
}

export function usersCommand(surroundings: Surroundings): Command {
  const command = new Command('users').description(
    'Help users who can’t sign in; works on the database directly',
  );
  const reset = command
    .command('reset-password')
    .description(
      'Print a link to set a new password; it works once, for 30 minutes. Uses DATABASE_URL or, without it, the data ' +
        'directory of a stopped `relay start`',
    )
    .argument('<email>', 'email address of the user')
    .option('--data-dir <dir>', 'data directory of `relay start` (default: $RELAY_DATA_DIR, or ./relay-data)')
    .option('--url <url>', `address of the console (default: $RELAY_PUBLIC_URL, or ${DEFAULT_URL})`)
    .option(
      '--remove-second-factor',
      'also remove the second factor immediately, for a user who has lost it',
    );
  withOutput(reset).action((email: string, flags: ResetFlags) => resetPassword(surroundings, email, flags));
  return command;
}

async function resetPassword(surroundings: Surroundings, email: string, flags: ResetFlags): Promise<void> {
  const publicUrl = publicUrlOf(flags.url ?? (surroundings.env['RELAY_PUBLIC_URL']?.trim() || DEFAULT_URL));
  // Loaded here, because no other command needs the server.
  const { createPasswordReset, DirectoryInUseError, ResetRefusedError } = await import('@relay/server');
  try {
    const reset = await createPasswordReset(dataOf(surroundings, flags), {
      email,
      publicUrl,
      removeSecondFactor: flags.removeSecondFactor === true,
    });
    surroundings.stderr.write(
      `Share this link only with ${reset.email}: anyone who has it can set the password. It works once.\n`,
    );
    await printObject(surroundings, flags, reset);
  } catch (error) {
    if (error instanceof ResetRefusedError)
      throw new ProgramError(error.message, error.isNotFound ? exitCodes.notFound : exitCodes.error);
    if (error instanceof DirectoryInUseError)
      throw new ProgramError(error.message, exitCodes.error, {
        why: 'Only one process can use a data directory, and `relay start` is using it.',
        fix: 'Stop `relay start`, run this command, start it again, and open the link within 30 minutes.',
      });
    throw error;
  }
}

function dataOf(surroundings: Surroundings, { dataDir }: ResetFlags) {
  const databaseUrl = databaseUrlOf(surroundings);
  if (dataDir === undefined && databaseUrl !== '') return { databaseUrl };
  return { directory: dataDirectoryOf(dataDir, surroundings) };
}

function publicUrlOf(text: string): string {
  const isUrl = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isUrl)
    throw usageError(
      `${text} is not an http:// or https:// address.`,
      'Run: `relay users reset-password EMAIL --url https://relay.example.com`',
    );
  return text.replace(/\/+$/, '');
}
