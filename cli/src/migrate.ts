import { Command } from 'commander';
import { ProgramError } from './program-error.ts';

export function migrateCommand(): Command {
  const migrate = new Command('migrate').description(
    'look at or bring up the database schema (DATABASE_URL)',
  );
  migrate
    .command('status')
    .description('list applied, pending and unknown migrations; exits 1 unless all are applied')
    .action(async () => {
      const { migrationCommands } = await import('@relay/server');
      const status = await migrationCommands.status(databaseUrl());
      for (const name of status.applied) process.stdout.write(`applied  ${name}\n`);
      for (const name of status.pending) process.stdout.write(`pending  ${name}\n`);
      for (const name of status.unknown) process.stdout.write(`unknown  ${name}\n`);
      if (status.pending.length > 0) throw new ProgramError('migrations are pending; run `relay migrate up`');
      if (status.unknown.length > 0)
        throw new ProgramError('the database is newer than this version of relay');
    });
  migrate
    .command('up')
    .description('apply pending migrations')
    .action(async () => {
      const { migrationCommands } = await import('@relay/server');
      const applied = await migrationCommands.up(databaseUrl());
      for (const name of applied) process.stdout.write(`applied  ${name}\n`);
      if (applied.length === 0) process.stdout.write('nothing to do\n');
    });
  return migrate;
}

function databaseUrl(): string {
  const url = process.env['DATABASE_URL'];
  if (!url) throw new ProgramError('DATABASE_URL is missing: set it to a postgres:// address');
  return url;
}
