import { posix } from 'node:path';
import { quotedCode } from './markdown-code.ts';
import { type Finding, isGenerated, type Tree, type TreeFile } from './tree.ts';

/** A changelog tells of the past, and may name what is gone. */
const ABOUT_THE_PAST = new Set(['CHANGELOG.md']);
const OURS_BY_ENDING = /^[\w.-]+(\/[\w.-]+)*\.(ts|sql|md|cjs|lua)$/;
/** Capitals that stand for a name the reader puts in. */
const PLACEHOLDER = /\b(NAME|NNNN)\b/;
const MADE_LOCALLY = /(^|\/)(node_modules|dist|\.cache|coverage)(\/|$)/;

/** Documents name only what exists: every quoted path is there. */
export function documentPaths(tree: Tree): Finding[] {
  const known = knownPaths(tree);
  const topLevel = new Set(
    tree.files.filter(({ path }) => path.includes('/')).map(({ path }) => path.slice(0, path.indexOf('/'))),
  );
  return documents(tree).flatMap((file) => {
    const here = posix.dirname(file.path);
    return quotedCode(file).flatMap(({ line, text }) =>
      text
        .split(/[\s,;()'"]+/)
        .filter((word) => isPath(word, topLevel) && !exists(word, here, known, topLevel))
        .map((word) => ({ path: file.path, line, message: `quotes ${word}, which does not exist` })),
    );
  });
}

export function documents(tree: Tree): TreeFile[] {
  return tree.files.filter(
    ({ path }) => path.endsWith('.md') && !ABOUT_THE_PAST.has(path) && !isGenerated(path),
  );
}

/** All files and all folders above them. */
export function knownPaths(tree: Tree): ReadonlySet<string> {
  const known = new Set<string>(['.']);
  for (const { path } of tree.files) {
    for (let at = path; at !== '.'; at = posix.dirname(at)) known.add(at);
  }
  return known;
}

function isPath(word: string, topLevel: ReadonlySet<string>): boolean {
  if (!/^[\w.-]+(\/[\w.-]*)*$/.test(word) || MADE_LOCALLY.test(word) || PLACEHOLDER.test(word)) return false;
  const first = word.slice(0, word.indexOf('/'));
  if (word.includes('/') && (topLevel.has(first) || first === '.' || first === '..')) return true;
  return OURS_BY_ENDING.test(word);
}

function exists(
  word: string,
  here: string,
  known: ReadonlySet<string>,
  topLevel: ReadonlySet<string>,
): boolean {
  const path = word.replace(/[./]+$/, '');
  if (known.has(posix.normalize(path)) || known.has(posix.normalize(posix.join(here, path)))) return true;
  // A path that names its member must be exact; a shorter one may leave out what the reader knows.
  if (path.startsWith('.') || (path.includes('/') && topLevel.has(path.slice(0, path.indexOf('/'))))) {
    return false;
  }
  return [...known].some((other) => other.endsWith(`/${path}`));
}
