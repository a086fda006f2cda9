import { posix } from 'node:path';
import { type Arrows, backArrows } from './floors.ts';
import type { ReadCode } from './read-code.ts';

/** The imports that run from a lower floor to a higher one, per module. */
export type BackImports = Readonly<Record<string, readonly string[]>>;

/** Folders that hold other modules and nothing else: their children are nodes of the module around them. */
const ONLY_FOLDERS = new Set(['console/src/pages']);

/** The folders whose insides are put in order: every module of the server, and each of the other members. */
function modulesOf(paths: readonly string[]): string[] {
  const server = paths.flatMap((path) => /^server\/src\/[^/]+(?=\/)/.exec(path) ?? []);
  return [...new Set([...server, 'cli/src', 'console/src', 'contract/src'])].sort();
}

export function backImports(files: readonly ReadCode[]): BackImports {
  return Object.fromEntries(
    modulesOf(files.map(({ path }) => path)).map((module) => [
      module,
      backArrows(arrowsInside(module, files)).map(([from, to]) => `${from} → ${to}`),
    ]),
  );
}

function arrowsInside(module: string, files: readonly ReadCode[]): Arrows {
  const arrows = new Map<string, Set<string>>();
  for (const { path, imports } of files) {
    const from = nodeOf(module, path);
    if (from === null) continue;
    const targets = arrows.get(from) ?? new Set<string>();
    arrows.set(from, targets);
    for (const specifier of imports) {
      const to = nodeOf(module, posix.join(posix.dirname(path), specifier));
      if (to !== null && to !== from) targets.add(to);
    }
  }
  return arrows;
}

/** The direct child of the module, a file or a folder, in which a file lies. */
function nodeOf(module: string, path: string): string | null {
  if (!path.startsWith(`${module}/`)) return null;
  const [first = '', ...rest] = path.slice(module.length + 1).split('/');
  if (rest.length > 1 && ONLY_FOLDERS.has(`${module}/${first}`)) return `${first}/${rest[0]}`;
  return first;
}
