import type { Finding, Tree } from './tree.ts';

/** Every workspace member, every module of the server and every module of its store opens with a README. */
export function readmes(tree: Tree): Finding[] {
  const paths = new Set(tree.files.map(({ path }) => path));
  const homes = new Set<string>();
  for (const path of paths) {
    const member = /^([^/]+)\/package\.json$/.exec(path)?.[1];
    if (member !== undefined) homes.add(member);
    const module = /^(server\/src\/[^/]+)\//.exec(path)?.[1];
    if (module !== undefined) homes.add(module);
    const storeModule = /^(server\/src\/store\/(?!fixtures\/)[^/]+)\//.exec(path)?.[1];
    if (storeModule !== undefined) homes.add(storeModule);
  }
  return [...homes]
    .filter((home) => !paths.has(`${home}/README.md`))
    .map((home) => ({
      path: `${home}/README.md`,
      line: null,
      message: 'is missing; say purpose, invariants and failure behavior',
    }));
}
