import { type Finding, isGenerated, type Tree } from './tree.ts';

const LINES_MAX = 400;
const WRITTEN_BY_PEOPLE = /\.(ts|tsx|js|cjs|mjs|sql|lua|md|sh)$/;

/** Files that may be longer, each with the reason. An entry that is no longer needed is a finding too. */
const longFiles: Readonly<Record<string, string>> = {
  'server/src/store/keys/key-directory.db.test.ts':
    'one directory and its two stores, watched from every side',
  'server/src/store/configuration/snapshots.db.test.ts':
    'one set of snapshots and its two stores, watched from every side',
  'system-tests/src/bounds/bounds.suite.ts': 'tables of cases, one row each',
};

export function fileLength(tree: Tree, allowed: Readonly<Record<string, string>> = longFiles): Finding[] {
  const findings: Finding[] = [];
  for (const { path, text } of tree.files) {
    if (isGenerated(path) || !WRITTEN_BY_PEOPLE.test(path)) continue;
    const lines = text.trimEnd().split('\n').length;
    if (lines > LINES_MAX && allowed[path] === undefined) {
      findings.push({ path, line: null, message: `${lines} lines; split it below ${LINES_MAX}` });
    }
    if (lines <= LINES_MAX && allowed[path] !== undefined) {
      findings.push({ path, line: null, message: 'is short enough now; take it off the list of long files' });
    }
  }
  const known = new Set(tree.files.map(({ path }) => path));
  for (const path of Object.keys(allowed)) {
    if (!known.has(path))
      findings.push({ path, line: null, message: 'is on the list of long files and is gone' });
  }
  return findings;
}
