import { documents } from './document-paths.ts';
import { quotedCode } from './markdown-code.ts';
import type { Finding, Tree } from './tree.ts';

const RELAY = /^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:npx relay(?:-gateway)?|relay|node cli\/bin\/relay\.js) (.*)$/;

/** Documents name only what exists: every quoted `npm run` script and every `relay` command is there. */
export function documentCommands(tree: Tree): Finding[] {
  const scripts = npmScripts(tree);
  const commands = relayCommands(tree);
  return documents(tree).flatMap((file) =>
    quotedCode(file).flatMap(({ line, text }) => {
      const gone = [
        ...[...text.matchAll(/\bnpm run ([\w:-]+)/g)]
          .map((match) => match[1] ?? '')
          .filter((script) => !scripts.has(script))
          .map((script) => `npm run ${script}`),
        ...relayWords(text)
          .filter((word) => !commands.has(word))
          .map((word) => `relay … ${word}`),
      ];
      return gone.map((command) => ({
        path: file.path,
        line,
        message: `quotes "${command}", which does not exist`,
      }));
    }),
  );
}

function npmScripts(tree: Tree): ReadonlySet<string> {
  const text = tree.files.find(({ path }) => path === 'package.json')?.text ?? '{}';
  const manifest = JSON.parse(text) as { readonly scripts?: Readonly<Record<string, string>> };
  return new Set(Object.keys(manifest.scripts ?? {}));
}

const COMMAND = /\bcommand\(\s*['"`]([a-z][a-z-]*)/gi;
/** The clients of `relay setup`, which are arguments with fixed values. */
const CLIENT = /: Client = \{\s*name: '([a-z-]+)'/g;

/** The names the command-line member declares, with those of its subcommands. */
function relayCommands(tree: Tree): ReadonlySet<string> {
  const names = tree.files
    .filter(({ path }) => path.startsWith('cli/src/') && path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .flatMap(({ text }) => [...text.matchAll(COMMAND), ...text.matchAll(CLIENT)])
    .map((match) => match[1] ?? '');
  return new Set([...names, 'help']);
}

/** The command words of a quoted call: those before the first option or argument. */
function relayWords(text: string): string[] {
  const words = RELAY.exec(text)?.[1]?.split(/\s+/) ?? [];
  const end = words.findIndex((word) => !/^[a-z][a-z-]*(\|[a-z-]+)*$/.test(word));
  return words.slice(0, end === -1 ? words.length : end).flatMap((word) => word.split('|'));
}
