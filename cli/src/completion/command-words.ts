import type { Command, Option } from 'commander';

export interface Word {
  readonly word: string;
  readonly description: string;
}

/** What can follow a command: subcommands, options and their values. */
export interface CommandWords {
  /** `relay lanes endpoints`. */
  readonly path: string;
  readonly subcommands: readonly Word[];
  readonly options: readonly Word[];
  /** The values of the first argument if it has a closed list. */
  readonly argumentChoices: readonly string[];
  readonly valuesByOption: Readonly<Record<string, readonly string[]>>;
}

export function commandWords(command: Command, parent = ''): CommandWords[] {
  const path = parent === '' ? command.name() : `${parent} ${command.name()}`;
  const options = command.createHelp().visibleOptions(command);
  const children = command.createHelp().visibleCommands(command);
  return [
    {
      path,
      subcommands: children.map((child) => ({
        word: child.name(),
        description: child.summary() || child.description(),
      })),
      options: options.flatMap((option) =>
        flagsOf(option).map((word) => ({ word, description: option.description })),
      ),
      argumentChoices: command.registeredArguments[0]?.argChoices ?? [],
      valuesByOption: Object.fromEntries(
        options.flatMap((option) => flagsOf(option).map((flag) => [flag, option.argChoices ?? []])),
      ),
    },
    ...children.filter((child) => child.name() !== 'help').flatMap((child) => commandWords(child, path)),
  ];
}

function flagsOf({ short, long }: Option): string[] {
  return [short, long].filter((flag) => flag !== undefined);
}
