import type { Finding, Tree } from './tree.ts';

const PAGES = 'docs/reference/errors/';

/** Every error code of the contract has a page, and no page is left over. Runs both ways. */
export function errorPages(tree: Tree, codes: readonly string[]): Finding[] {
  if (codes.length === 0) return [{ path: PAGES, line: null, message: 'the contract names no error code' }];
  const pages = new Set(
    tree.files
      .filter(({ path }) => path.startsWith(PAGES) && path.endsWith('.md') && path !== `${PAGES}README.md`)
      .map(({ path }) => path.slice(PAGES.length, -'.md'.length)),
  );
  const missing = codes
    .filter((code) => !pages.has(code))
    .map((code) => ({ path: `${PAGES}${code}.md`, line: null, message: 'is missing; run npm run generate' }));
  const known = new Set(codes);
  const leftOver = [...pages]
    .filter((page) => !known.has(page))
    .map((page) => ({ path: `${PAGES}${page}.md`, line: null, message: 'belongs to no error code' }));
  return [...missing, ...leftOver];
}
