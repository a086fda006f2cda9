import { type Finding, isGenerated, type Tree } from './tree.ts';

const KEBAB = /^\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/;

/** Names that people and tools look for in this spelling. */
const CONVENTIONAL = new Set([
  'README.md',
  'LICENSE',
  'CONTRIBUTING.md',
  'AGENTS.md',
  'CODEOWNERS',
  'SECURITY.md',
  'CHANGELOG.md',
  'CODE_OF_CONDUCT.md',
  'ISSUE_TEMPLATE',
  'PULL_REQUEST_TEMPLATE.md',
  'ARCHITECTURE.md',
  'Dockerfile',
  'Chart.yaml',
  '_pod.tpl',
]);

/** Words that do not say what a file holds. */
const EMPTY_WORDS = new Set(['util', 'utils', 'helper', 'helpers', 'common', 'misc', 'manager', 'base']);

/** Files and folders are kebab-case and named for what they hold. */
export function fileNames(tree: Tree): Finding[] {
  return tree.files
    .filter(({ path }) => !isGenerated(path))
    .flatMap(({ path }) =>
      path.split('/').flatMap((name): Finding[] => {
        if (CONVENTIONAL.has(name)) return [];
        if (!KEBAB.test(name)) return [{ path, line: null, message: `"${name}" is not kebab-case` }];
        const empty = name.split(/[-.]/).find((word) => EMPTY_WORDS.has(word));
        if (empty === undefined) return [];
        return [{ path, line: null, message: `"${empty}" in a name says nothing; name what is inside` }];
      }),
    );
}
