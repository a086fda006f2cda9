import { type Finding, findLines, type Tree } from './tree.ts';

const CALLED = /\b(describe|it|test|suite)\s*\.\s*(only|skip|todo)\b/;
const OPTION = /(\b(describe|it|test|suite)\(.*|^\s*)\{[^}]*\b(only|skip|todo):/;
const DURING = /\b(t|context)\.(skip|todo)\(/;

/** Every test runs: markers that skip tests are not allowed. */
export function testMarkers(tree: Tree): Finding[] {
  return tree.files
    .filter(({ path }) => path.endsWith('.test.ts') || path.startsWith('system-tests/src/'))
    .flatMap((file) =>
      [CALLED, OPTION, DURING].flatMap((pattern) =>
        findLines(file, pattern, 'leaves tests out; make the test hold or delete it'),
      ),
    );
}
