import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Files with usage in a spool. Another one there names the deployment that the folder belongs to. */
export function spooledIn(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => isUsageFile(path) && statSync(path).isFile() && statSync(path).size > 0);
}

export function isUsageFile(path: string): boolean {
  return basename(path) !== '.relay-deployment';
}
