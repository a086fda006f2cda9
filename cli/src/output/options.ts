import { type Command, Option } from 'commander';
import type { Surroundings } from '../kit/surroundings.ts';

export const formats = ['table', 'json', 'ndjson', 'yaml', 'csv'] as const;
export type Format = (typeof formats)[number];

export interface OutputOptions {
  readonly output?: Format;
}

export function withOutput(command: Command): Command {
  return command.addOption(
    new Option('-o, --output <format>', 'output format (default: table on a terminal, else json)').choices(
      formats,
    ),
  );
}

export function formatOf({ stdout }: Pick<Surroundings, 'stdout'>, { output }: OutputOptions): Format {
  return output ?? (stdout.isTTY ? 'table' : 'json');
}
