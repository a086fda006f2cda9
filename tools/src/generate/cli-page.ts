import { createProgram, exitCodes, processSurroundings } from '@relay/cli';
import { type GeneratedFile, generatedPage, markdownTable } from './generated-file.ts';

type Command = Awaited<ReturnType<typeof createProgram>>;

const exitMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: 'It worked.',
  error: 'It did not work; the message says why.',
  usage: 'The command line, a file or standard input is wrong. Nothing was done.',
  auth: 'No token, a token that is refused, or one that may not do this.',
  notFound: 'What was named does not exist.',
  differs: 'The configuration file and the server differ (`relay config diff`).',
  rateLimited: 'A limit has no room.',
};

export async function cliPage(): Promise<GeneratedFile[]> {
  const program = await createProgram({ ...processSurroundings(), env: {} });
  const commands = program.commands.filter((command) => command.name() !== 'help');
  const body = `# The \`relay\` command

Data goes to standard output and everything else to standard error. On a terminal lists are tables, elsewhere JSON;
\`-o\` chooses. \`NO_COLOR\` turns colours off. Secrets are never taken from the command line, where others can read them.

The server and its tokens come from the options, then from \`RELAY_SERVER\` and \`RELAY_TOKEN\` (or, with a server
given, \`RELAY_ADMIN_TOKEN\` and \`RELAY_API_TOKEN\`), then from the login context: \`--context\`, \`RELAY_CONTEXT\`, or the
current one.

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
