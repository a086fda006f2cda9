import { createProgram, exitCodes, processSurroundings } from '@relay/cli';
import { type GeneratedFile, generatedPage, markdownTable } from './generated-file.ts';

type Command = Awaited<ReturnType<typeof createProgram>>;

const exitMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: 'The command succeeded.',
  error: 'The command failed; the message says why.',
  usage: 'The command line, a file or standard input is invalid. Nothing was changed.',
  auth: 'No token, a rejected token, or a token that lacks a required permission.',
  notFound: 'A named resource was not found.',
  differs:
    'The server differs from the configuration file (`relay config diff`) or the price list (`relay prices import --dry-run`).',
  rateLimited: 'A limit has been reached.',
};

export async function cliPage(): Promise<GeneratedFile[]> {
  const program = await createProgram({ ...processSurroundings(), env: {} });
  const commands = program.commands.filter((command) => command.name() !== 'help');
  const body = `# The \`relay\` command

Relay prints data to standard output and everything else to standard error. Lists are tables on a terminal and JSON
elsewhere; \`-o\` selects the format. \`NO_COLOR\` disables colors. Relay never reads a secret from an option, where other
processes can see it, except \`relay setup --key\`.

Money is in dollars (\`50\`, \`$12.50\`) and durations have a unit (\`500ms\`, \`30s\`, \`2m\`). JSON, YAML and CSV keep the
units of the API: micro-USD and milliseconds.

Commands take the server address from \`--server\`, then from \`RELAY_SERVER\`, then from the login context: \`--context\`,
\`RELAY_CONTEXT\`, or the current one. They take tokens from \`RELAY_TOKEN\` (or, if \`--server\` or \`RELAY_SERVER\` is set, from
\`RELAY_ADMIN_TOKEN\` and \`RELAY_API_TOKEN\`), then from the login context. With \`--context\`, they ignore these variables.
Without a server address, commands use the server that \`relay start\` runs with this folder's data directory, or a server
on this machine with the tokens in the environment.

## Exit status

${markdownTable(
  ['Status', 'Meaning'],
  Object.entries(exitCodes).map(([name, code]) => [
    String(code),
    exitMeanings[name as keyof typeof exitCodes],
  ]),
)}

${commands.flatMap((command) => sections(command, 'relay')).join('\n\n')}`;
  return [generatedPage('docs/reference/cli.md', body)];
}

function sections(command: Command, parent: string): string[] {
  const path = `${parent} ${command.name()}`;
  const children = command.commands.filter((child) => child.name() !== 'help');
  const level = parent === 'relay' ? '##' : '###';
  const help = command.createHelp();
  const options = help
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help')
    .map((option) => [`\`${option.flags}\``, help.optionDescription(option)]);
  const args = command.registeredArguments.map((argument) => [
    `\`${argument.required ? `<${nameOf(argument)}>` : `[${nameOf(argument)}]`}\``,
    help.argumentDescription(argument),
  ]);
  const usage = children.length > 0 ? [] : [`\`\`\`\n${path} ${command.usage()}\n\`\`\``];
  const rows = [...args, ...options];
  const table = rows.length === 0 ? [] : [markdownTable(['', ''], rows)];
  const own = [`${level} ${path}`, command.description(), ...usage, ...table].join('\n\n');
  return [own, ...children.flatMap((child) => sections(child, path))];
}

function nameOf(argument: Command['registeredArguments'][number]): string {
  return argument.variadic ? `${argument.name()}...` : argument.name();
}
