import { Command } from 'commander';
import cliPackage from '../package.json' with { type: 'json' };
import { type CommandEntry, commands } from './commands.ts';
import type { Surroundings } from './kit/surroundings.ts';

/** Columns of the help where there is no terminal. */
const HELP_WIDTH = 80;

/** The program with the commands that `argv` needs, or with all for completion and the reference. */
export async function createProgram(surroundings: Surroundings, argv?: readonly string[]): Promise<Command> {
  const only = argv === undefined ? undefined : commandNameOf(argv);
  const program = new Command('relay')
    .description('Run and manage Relay')
    .version(cliPackage.version, '-V, --version', 'print the version')
    .showHelpAfterError('Run: relay --help')
    .showSuggestionAfterError();
  for (const entry of commands) {
    const isWanted = only === undefined || only === entry.name;
    program.addCommand(isWanted ? await loadCommand(entry, surroundings, argv) : placeholder(entry));
  }
  return prepared(program, surroundings);
}

/** The first word that is not an option is the command; root options take no values. */
export function commandNameOf(argv: readonly string[]): string {
  const words = argv.filter((word) => !word.startsWith('-'));
  return (words[0] === 'help' ? words[1] : words[0]) ?? '';
}

async function loadCommand(
  entry: CommandEntry,
  surroundings: Surroundings,
  argv: readonly string[] | undefined,
): Promise<Command> {
  const create = await entry.load();
  const command = await create(surroundings, argv, () => createProgram(surroundings));
  return command.summary(entry.summary).helpGroup(entry.group);
}

function placeholder({ name, summary, group }: CommandEntry): Command {
  return new Command(name).summary(summary).description(summary).helpGroup(group);
}

/** Subcommands of an added command do not inherit settings. */
function prepared(command: Command, surroundings: Surroundings): Command {
  const { stdout, stderr } = surroundings;
  command.configureOutput({
    writeOut: (text) => stdout.write(text),
    writeErr: (text) => stderr.write(text),
    getOutHelpWidth: () => widthOf(stdout),
    getErrHelpWidth: () => widthOf(stderr),
  });
  command.exitOverride((error) => {
    throw error;
  });
  command.configureHelp({ sortOptions: false });
  for (const child of command.commands) {
    child.showHelpAfterError(`Run: ${pathOf(child)} --help`);
    prepared(child, surroundings);
  }
  return command;
}

function widthOf({ isTTY, columns }: NodeJS.WriteStream): number {
  return isTTY ? columns : HELP_WIDTH;
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
