/** A module and what it imports, by path. */
export interface ImportingModule {
  readonly source: string;
  readonly dependencies: readonly { readonly resolved: string }[];
}

const FOR_TESTS = /(\.test\.tsx?|(\.|\/)fixture\.ts|\.d\.ts)$/;
/** What is put in order, and its child: a file, a folder, or a page of the console. */
const CHILD = /^(server\/src\/[^/]+|(?:cli|console|contract)\/src)\/((?:(?<=^console\/src\/)pages\/)?[^/]+)/;

/**
 * The children of a module of the server, and of the `src` of cli, console and contract, lie in layers: no chain of imports
 * leads from a child back to it. Names the imports between children that lie on a cycle, or between two cycles.
 */
export function layerCycles(modules: readonly ImportingModule[]): string[] {
  const arrows = new Map<string, readonly [from: string, to: string]>();
  for (const { source, dependencies } of modules) {
    const [from, within, child] = FOR_TESTS.test(source) ? [] : (CHILD.exec(source) ?? []);
    for (const { resolved } of from === undefined ? [] : dependencies) {
      const [to = '', toWithin, toChild] = CHILD.exec(resolved) ?? [];
      if (from !== undefined && within === toWithin && child !== toChild)
        arrows.set(`${from} → ${to}`, [from, to]);
    }
  }
  for (let before = -1; before !== arrows.size; ) {
    before = arrows.size;
    const importing = new Set([...arrows.values()].map(([from]) => from));
    const imported = new Set([...arrows.values()].map(([, to]) => to));
    // Neither a child that imports no other nor one that no other imports lies on a cycle.
    for (const [name, [from, to]] of arrows)
      if (!importing.has(to) || !imported.has(from)) arrows.delete(name);
  }
  return [...arrows.keys()].sort().map((arrow) => `layers: ${arrow} lies on a cycle`);
}
