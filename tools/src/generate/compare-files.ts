import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { type GeneratedFile, generatedFolders, generatedMark } from './generated-file.ts';

export interface Difference {
  /** `extra` was generated once and no longer is; `foreign` was never generated, so it is never removed. */
  kind: 'missing' | 'stale' | 'extra' | 'foreign';
  path: string;
}

/** How the tree below `root` differs from what would be generated now. */
export async function compareFiles(root: string, files: readonly GeneratedFile[]): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const { path, content } of files) {
    const found = await readIfPresent(join(root, path));
    if (found === undefined) differences.push({ kind: 'missing', path });
    else if (found !== content) differences.push({ kind: 'stale', path });
  }
  const expected = new Set(files.map((file) => file.path));
  for (const folder of generatedFolders) {
    for (const path of await filesBelow(root, folder)) {
      if (expected.has(path)) continue;
      const content = await readIfPresent(join(root, path));
      differences.push({ kind: content?.startsWith(generatedMark) === true ? 'extra' : 'foreign', path });
    }
  }
  return differences;
}

/** Writes what is missing or stale and removes what is extra. Answers what it would not touch. */
export async function writeFiles(
  root: string,
  files: readonly GeneratedFile[],
  differences: readonly Difference[],
): Promise<Difference[]> {
  const contents = new Map(files.map((file) => [file.path, file.content]));
  for (const { kind, path } of differences) {
    const target = join(root, path);
    const content = contents.get(path);
    if (kind === 'extra') await rm(target);
    if (content === undefined) continue;
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content);
  }
  return differences.filter((difference) => difference.kind === 'foreign');
}

async function filesBelow(root: string, folder: string): Promise<string[]> {
  const entries = await ignoreMissing(readdir(join(root, folder), { recursive: true, withFileTypes: true }));
  return (entries ?? [])
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .toSorted();
}

function readIfPresent(path: string): Promise<string | undefined> {
  return ignoreMissing(readFile(path, 'utf8'));
}

async function ignoreMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
