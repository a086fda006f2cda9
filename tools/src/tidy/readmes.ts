import type { Finding, Tree } from './tree.ts';

/** Every member of the workspace and every room of the server opens with a README. */
export function readmes(tree: Tree): Finding[] {
  const paths = new Set(tree.files.map(({ path }) => path));
  const homes = new Set<string>();
  for (const path of paths) {
    const member = /^([^/]+)\/package\.json$/.exec(path)?.[1];
    if (member !== undefined) homes.add(member);
    const room = /^(server\/src\/[^/]+)\//.exec(path)?.[1];
    if (room !== undefined) homes.add(room);
  }
  return [...homes]
    .filter((home) => !paths.has(`${home}/README.md`))
    .map((home) => ({
      path: `${home}/README.md`,
      line: null,
      message: 'is missing; say purpose, invariants and failure behaviour',
    }));
}
