import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * A module of a checkout's server. Files have moved between editions; the first path that exists is the one of this checkout.
 * Null when there is none.
 */
export async function findModule<T>(root: string, ...paths: readonly string[]): Promise<T | null> {
  const path = paths.map((each) => join(root, 'server/src', each)).find((each) => existsSync(each));
  return path === undefined ? null : ((await import(pathToFileURL(path).href)) as T);
}

export async function loadModule<T>(root: string, ...paths: readonly string[]): Promise<T> {
  const found = await findModule<T>(root, ...paths);
  if (found === null) throw new Error(`${root} has none of ${paths.join(', ')}`);
  return found;
}
