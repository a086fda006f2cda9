import { type CommandNode, unknownInCall } from './command-table.ts';
import { documents } from './document-paths.ts';
import { quotedCode } from './markdown-code.ts';
import type { Finding, Tree } from './tree.ts';

const RELAY = /^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:npx relay(?:-gateway)?|relay|node cli\/bin\/relay\.js) (.*)$/;
/** What ends a command on a line of shell. An alternative such as `validate|diff` has no space around it. */
const NEXT_COMMAND = /\s(?:\|\|?|&&|>+|#)\s|;|\$\(|\)/;
const SUITE = /^system-tests\/src\/([^/]+)\/\1\.suite\.ts$/;

/** Documents name only what exists: every `npm run` script, suite and test, every `relay` command with its options. */
export function documentCommands(tree: Tree, relay: CommandNode): Finding[] {
  const scripts = npmScripts(tree);
  const suites = new Set(tree.files.flatMap(({ path }) => SUITE.exec(path)?.[1] ?? []));
  return documents(tree).flatMap((file) =>
    quotedCode(file).flatMap(({ line, text }) => {
      const gone = [
        ...namesAfter(text, /\bnpm run (?:--silent )?([\w:-]+)/g)
          .filter((script) => !scripts.has(script))
          .map((script) => `npm run ${script}`),
        ...namesAfter(text, /\bnpm run (?:--silent )?system -- ([a-z][\w-]*)/g)
          .filter((suite) => !suites.has(suite))
          .map((suite) => `npm run system -- ${suite}`),
        ...[...text.matchAll(/\bnpm test -- (\S+) -t "([^"]+)"/g)]
          .filter(([, part = '', name = '']) => !hasTest(tree, part, name))
          .map(([call]) => call),
        ...relayCalls(text).flatMap((words) => {
          const unknown = unknownInCall(relay, words);
          return unknown === null ? [] : [`relay ${unknown}`];
        }),
      ];
      return gone.map((command) => ({
        path: file.path,
        line,
        message: `quotes "${command}", which does not exist`,
      }));
    }),
  );
}

function hasTest(tree: Tree, part: string, name: string): boolean {
  return tree.files.some(
    ({ path, text }) => path.endsWith('.test.ts') && path.includes(part) && text.includes(name),
  );
}

function namesAfter(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map((match) => match[1] ?? '');
}

function npmScripts(tree: Tree): ReadonlySet<string> {
  const text = tree.files.find(({ path }) => path === 'package.json')?.text ?? '{}';
  const manifest = JSON.parse(text) as { readonly scripts?: Readonly<Record<string, string>> };
  return new Set(Object.keys(manifest.scripts ?? {}));
}

/** The words of each quoted call of `relay`; `validate|diff` are two calls. */
function relayCalls(text: string): string[][] {
  return text.split(NEXT_COMMAND).flatMap((command) => {
    const rest = RELAY.exec(command.trim())?.[1];
    if (rest === undefined) return [];
    const words = rest.match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
    return words.reduce<string[][]>(
      (calls, word) => {
        const options = /^[a-z-]+(\|[a-z-]+)+$/.test(word) ? word.split('|') : [word];
        return calls.flatMap((call) => options.map((option) => [...call, option]));
      },
      [[]],
    );
  });
}
