import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command, type OptionValues } from 'commander';
import { connect } from '../api/client.ts';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { momentIn } from '../kit/time-range.ts';
import { codeOf } from '../kit/values.ts';
import { withOutput } from '../output/options.ts';
import { printList } from '../output/print.ts';
import { withConnection } from '../session/connection.ts';
import { daysBetween, type ExportedDay, exportDay } from './export-day.ts';

export function exportCommand(surroundings: Surroundings): Command {
  const moment = momentIn(surroundings.nowMs, -1);
  const command = new Command('export')
    .description('Write the request log to files of newline-delimited JSON, one for each UTC day')
    .requiredOption('--dir <dir>', 'directory for the files')
    .option('--since <when>', 'first day: 7d or a date (default: 24h)', moment)
    .option('--until <when>', 'last day: 1d or a date (default: today)', moment);
  // The parent command has some of these options too and then takes their values.
  return withOutput(withConnection(command)).action((_options: OptionValues, self: Command) =>
    exportUsage(surroundings, self.optsWithGlobals()),
  );
}

async function exportUsage(surroundings: Surroundings, options: OptionValues): Promise<void> {
  const { dir, since, until } = options;
  const directory = resolve(surroundings.cwd, dir);
  const nowMs = surroundings.nowMs();
  const days = daysBetween(Date.parse(since), until === undefined ? nowMs : Date.parse(until));
  const api = await connect(surroundings, options);
  const done: ExportedDay[] = [];
  try {
    await mkdir(directory, { recursive: true, mode: 0o750 });
    for (const day of days)
      done.push(await exportDay(api.management, { directory, day, partId: surroundings.newId() }));
  } catch (error) {
    const code = codeOf(error);
    if (error instanceof ProgramError || code === undefined) throw error;
    throw new ProgramError(`Can't write to ${dir} (${code}).`, exitCodes.error, {
      fix: 'Name a writable folder on a disk with space, and run the command again: finished days are kept.',
    });
  }
  await printList<ExportedDay>(surroundings, options, done, {
    columns: [
      { title: 'day', value: ({ day }) => day },
      { title: 'file', value: ({ file }) => file, elastic: true },
      { title: 'requests', value: ({ requests }) => requests, align: 'right' },
      { title: 'state', value: ({ state }) => state },
    ],
    empty: 'No days to export.',
  });
}
