import { type Finding, findLines, type Tree } from './tree.ts';

const TABLES = 'server/src/store/postgres/ledger-tables.ts';
const LEDGER = 'server/src/store/ledger/';

/** Production code names the ledger's tables in their schema and in the ledger module only. */
export function ledgerTables(tree: Tree): Finding[] {
  const schema = tree.files.find(({ path }) => path === TABLES);
  const names = [...(schema?.text ?? '').matchAll(/^ {2}([a-z_]+): \{/gm)].map(([, name = '']) => name);
  if (names.length === 0) return [{ path: TABLES, line: null, message: 'names no table of the ledger' }];
  const use = useOf(names);
  return tree.files
    .filter(({ path }) => isProduction(path) && path !== TABLES && !path.startsWith(LEDGER))
    .flatMap((file) => findLines(file, use, `a table of the ledger is used outside ${LEDGER}`));
}

function isProduction(path: string): boolean {
  return /^server\/src\/.*\.ts$/.test(path) && !/(\.test|[./]fixture)\.ts$/.test(path);
}

/**
 * A name of several words is the table wherever it appears. One word is also an ordinary word, so it counts only where a
 * statement, a query builder or a row type names a table.
 */
function useOf(names: readonly string[]): RegExp {
  const long = names.filter((name) => name.includes('_')).map((name) => `\\b${name}`);
  const short = names.filter((name) => !name.includes('_')).join('|');
  const inStatement = `^(?!\\s*(\\*|//|/\\*)).*\\b(from|into|join|update|table|like)\\s+"?(${short})\\b`;
  const inBuilder = `(From|Into|Join|Table|table)\\(\\s*['"\`](${short})\\b`;
  const inReference = `['\`](${short})(\\.\\w|'::regclass)|\\[['"](${short})['"]\\]`;
  return new RegExp([...long, inStatement, inBuilder, inReference].join('|'));
}
