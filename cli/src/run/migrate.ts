import type { MovedRows } from '@relay/server';
import { Command } from 'commander';
import { exitCodes, ProgramError, usageError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';

interface MoveFlags {
  readonly from?: string;
  readonly to?: string | undefined;
}

export function migrateCommand({ env, stdout }: Surroundings): Command {
  const migrate = new Command('migrate')
    .description(
      'look at or bring up the database schema (DATABASE_URL), or carry everything from a data directory of ' +
        '`relay start` to a PostgreSQL server',
    )
    .option('--from <dir>', 'the data directory to carry over; nothing may be running on it')
    .option('--to <url>', 'the database it goes to, which has to be empty (default: $DATABASE_URL)')
    .action((flags: MoveFlags, command: Command) =>
      flags.from === undefined && flags.to === undefined
        ? command.help({ error: true })
        : move({ to: env['DATABASE_URL'], ...flags }, stdout),
    );
  migrate
    .command('status')
    .description('list applied, pending and unknown migrations; exits 1 unless all are applied')
    .action(async () => {
      const { migrationCommands } = await import('@relay/server');
      const status = await migrationCommands.status(databaseUrl(env));
      for (const name of status.applied) stdout.write(`applied  ${name}\n`);
      for (const name of status.pending) stdout.write(`pending  ${name}\n`);
      for (const name of status.unknown) stdout.write(`unknown  ${name}\n`);
      if (status.pending.length > 0) throw new ProgramError('migrations are pending; run `relay migrate up`');
      if (status.unknown.length > 0)
        throw new ProgramError('the database is newer than this version of relay');
    });
  migrate
    .command('up')
    .description('apply pending migrations')
    .action(async () => {
      const { migrationCommands } = await import('@relay/server');
      const applied = await migrationCommands.up(databaseUrl(env));
      for (const name of applied) stdout.write(`applied  ${name}\n`);
      if (applied.length === 0) stdout.write('nothing to do\n');
    });
  return migrate;
}

async function move({ from, to }: MoveFlags, stdout: Surroundings['stdout']): Promise<void> {
  if (from === undefined || to === undefined)
    throw usageError(
      'both a directory and a database are needed',
      'relay migrate --from relay-data --to postgres://…',
    );
  if (!/^postgres(ql)?:\/\//.test(to)) throw usageError('--to has to be a postgres:// address');
  const { DirectoryInUseError, MoveRefusedError, moveOut } = await import('@relay/server');
  let moved: MovedRows[];
  try {
    moved = await moveOut(from, to);
  } catch (error) {
    if (error instanceof MoveRefusedError) throw new ProgramError(error.message);
    if (error instanceof DirectoryInUseError)
      throw new ProgramError(error.message, exitCodes.error, { fix: 'stop that process, then try again' });
    throw error;
  }
  stdout.write(movedText(moved, from));
}

function movedText(moved: readonly MovedRows[], from: string): string {
  const width = Math.max(...moved.map(({ table }) => table.length));
  const lines = moved.map(({ table, rows }) => `  ${table.padEnd(width)}  ${rows}`);
  const sum = moved.reduce((total, { rows }) => total + rows, 0);
  return `${lines.join('\n')}
${sum} rows in ${moved.length} tables, counted in both databases: the same everywhere.

The new deployment needs these settings with the values of ${from}/secrets.json, or with those that the environment of
\`relay start\` had, where it had its own:
  RELAY_MASTER_KEY    opens the stored secrets of providers and guardrails; with another one they are lost
  RELAY_AUTH_SECRET   without the same one, User API keys and browser sessions stop working
  RELAY_API_TOKEN     what applications call with
  RELAY_ADMIN_TOKEN   what operators sign in with
and DATABASE_URL and REDIS_URL. Start it with \`relay serve\`.

${from} is as it was. Do not start it again beside the new deployment: each would go on by itself.
`;
}

function databaseUrl(env: Surroundings['env']): string {
  const url = env['DATABASE_URL'];
  if (!url) throw new ProgramError('DATABASE_URL is missing: set it to a postgres:// address');
  return url;
}
