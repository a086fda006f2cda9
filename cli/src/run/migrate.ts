import type { MovedRows } from '@relay/server';
import { Command } from 'commander';
import { databaseUrlOf } from '../kit/database-url.ts';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { count, numberText } from '../output/cells.ts';

interface MoveFlags {
  readonly from?: string;
  readonly to?: string | undefined;
}

export function migrateCommand({ env, stdout }: Surroundings): Command {
  const migrate = new Command('migrate')
    .description(
      'Show or apply database migrations (DATABASE_URL), or copy a data directory of `relay start` to a ' +
        'PostgreSQL server (the directory stays unchanged)',
    )
    .option('--from <dir>', 'data directory to copy; stop `relay start` first')
    .option('--to <url>', 'empty target database (default: $DATABASE_URL)')
    .action((flags: MoveFlags, command: Command) =>
      flags.from === undefined && flags.to === undefined
        ? command.help({ error: true })
        : move({ to: databaseUrlOf({ env }) || undefined, ...flags }, stdout),
    );
  migrate
    .command('status')
    .description('List applied, pending and unknown migrations; exits 1 unless all are applied')
    .action(async () => {
      const { migrationCommands } = await import('@relay/server');
      const status = await migrationCommands.status(databaseUrl(env));
      for (const name of status.applied) stdout.write(`applied  ${name}\n`);
      for (const name of status.pending) stdout.write(`pending  ${name}\n`);
      for (const name of status.unknown) stdout.write(`unknown  ${name}\n`);
      if (status.pending.length > 0)
        throw new ProgramError('Migrations are pending.', exitCodes.error, {
          fix: 'Run: `relay migrate up`',
        });
      if (status.unknown.length > 0)
        throw new ProgramError(
          'The database is newer than this version of Relay. Install the newer version.',
        );
    });
  migrate
    .command('up')
    .description('Apply pending migrations')
    .action(async () => {
      const { migrationCommands } = await import('@relay/server');
      const applied = await migrationCommands.up(databaseUrl(env));
      for (const name of applied) stdout.write(`applied  ${name}\n`);
      if (applied.length === 0) stdout.write('No pending migrations.\n');
    });
  return migrate;
}

async function move({ from, to }: MoveFlags, stdout: Surroundings['stdout']): Promise<void> {
  if (from === undefined || to === undefined)
    throw usageError(
      'A directory and a database are required.',
      'Run: `relay migrate --from DIR --to DATABASE_URL`',
    );
  if (!/^postgres(ql)?:\/\//.test(to)) throw usageError('--to is not a postgres:// address.');
  const { DirectoryInUseError, MoveRefusedError, moveOut } = await import('@relay/server');
  let moved: MovedRows[];
  try {
    moved = await moveOut(from, to);
  } catch (error) {
    if (error instanceof MoveRefusedError) throw new ProgramError(error.message);
    if (error instanceof DirectoryInUseError)
      throw new ProgramError(error.message, exitCodes.error, { fix: 'Stop that process, then try again.' });
    throw error;
  }
  stdout.write(movedText(moved, from));
}

function movedText(moved: readonly MovedRows[], from: string): string {
  const width = Math.max(...moved.map(({ table }) => table.length));
  const lines = moved.map(({ table, rows }) => `  ${table.padEnd(width)}  ${numberText(rows)}`);
  const sum = moved.reduce((total, { rows }) => total + rows, 0);
  return `${lines.join('\n')}
${count(sum, 'row')} in ${count(moved.length, 'table')}, verified in both databases.

In the new deployment, set these to the values in ${from}/secrets.json. If the environment of \`relay start\` set one
of them, use that value instead:
  RELAY_MASTER_KEY    decrypts stored credentials; with another key they are lost
  RELAY_AUTH_SECRET   verifies API keys and sessions; with another secret they stop working
  RELAY_API_TOKEN     token for applications
  RELAY_ADMIN_TOKEN   token for the management API
Also set DATABASE_URL and REDIS_URL. Then run: relay serve

${from} is unchanged. Don't run \`relay start\` on it while the new deployment is in use: the two would diverge.
`;
}

function databaseUrl(env: Surroundings['env']): string {
  const url = databaseUrlOf({ env });
  if (!url) throw new ProgramError('DATABASE_URL is not set. Set it to a postgres:// address.');
  return url;
}
