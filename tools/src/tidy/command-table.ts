/** One command of the command line, as far as documents can be compared with it. */
export interface CommandNode {
  readonly children: ReadonlyMap<string, CommandNode>;
  /** Long and short names, such as `--output` and `-o`. */
  readonly options: ReadonlySet<string>;
  readonly takesArguments: boolean;
}

/** The part of a commander command that the table is made of. */
interface DeclaredCommand {
  name(): string;
  aliases(): readonly string[];
  readonly commands: readonly DeclaredCommand[];
  readonly options: readonly { readonly short?: string; readonly long?: string }[];
  readonly registeredArguments: readonly unknown[];
}

const EVERYWHERE = ['--help', '-h'];

export function commandTable(command: DeclaredCommand): CommandNode {
  return {
    children: new Map(
      command.commands.flatMap((child) => {
        const node = commandTable(child);
        return [child.name(), ...child.aliases()].map((name) => [name, node] as const);
      }),
    ),
    options: new Set([
      ...EVERYWHERE,
      ...command.options.flatMap(({ short, long }) => [short ?? [], long ?? []].flat()),
    ]),
    takesArguments: command.registeredArguments.length > 0,
  };
}

/** What a quoted call names that the command line does not have, or null. */
export function unknownInCall(table: CommandNode, words: readonly string[]): string | null {
  let node = table;
  let isPath = true;
  for (const [index, word] of words.entries()) {
    if (word.startsWith('-')) {
      const option = word.replace(/=.*$/, '');
      if (option !== '--' && !hasOption(node, option)) return [...words.slice(0, index), option].join(' ');
      // The next word may be the option's value.
      isPath = false;
      continue;
    }
    const child = isPath ? node.children.get(word) : undefined;
    if (child !== undefined) node = child;
    else {
      const isName = /^[a-z][a-z-]*$/.test(word) && word !== 'help';
      if (isPath && isName && !node.takesArguments && node.children.size > 0)
        return words.slice(0, index + 1).join(' ');
      isPath = false;
    }
  }
  return null;
}

/** A group's name stands for its commands, so `relay setup --key` names an option of one of them. */
function hasOption(node: CommandNode, option: string): boolean {
  return node.options.has(option) || [...node.children.values()].some((child) => hasOption(child, option));
}
