import { type Finding, isGenerated, type Tree } from './tree.ts';

const LINES_MAX = 400;

/** No document and no script is too long to read. Oxlint measures what it reads (`max-lines`); these it does not. */
export function fileLength(tree: Tree): Finding[] {
  return tree.files.flatMap(({ path, text }) => {
    const lines = text.trimEnd().split('\n').length;
    if (!/\.(sql|lua|md|sh)$/.test(path) || isGenerated(path) || lines <= LINES_MAX) return [];
    return [{ path, line: null, message: `${lines} lines; split it below ${LINES_MAX}` }];
  });
}
