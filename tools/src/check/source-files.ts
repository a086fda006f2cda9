import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const NEVER_OURS = new Set(['node_modules', '.git', '.cache', 'dist', 'coverage', 'relay-data']);

/** Every file of the tree that is ours, as paths relative to the root with forward slashes, sorted. */
export function listFiles(root: string, below = ''): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(join(root, below), { withFileTypes: true })) {
    if (NEVER_OURS.has(entry.name)) continue;
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) found.push(...listFiles(root, path));
    else if (entry.isFile()) found.push(path);
  }
  return found.sort();
}

/** The modules of the members: what the import table governs. */
export function sourceFiles(root: string): string[] {
  return listFiles(root).filter((path) => /^[^/.]+\/(src|bin)\/.*\.(ts|tsx|js|mjs|cjs)$/.test(path));
}
