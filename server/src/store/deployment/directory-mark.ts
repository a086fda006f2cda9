import { access, constants, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type DeploymentIdentity, markOf, ownerIn } from './identity.ts';

/** No reader of usage files or of a spool takes it for one of its files. */
export const MARK_FILE = '.relay-deployment';
const READS_MAX = 20;
const READ_EVERY_MS = 50;

/**
 * Marks a directory as the deployment's, unless it has a mark. Returns the other deployment that it belongs to, or null. Throws when the directory
 * cannot be written.
 */
export async function claimDirectory(
  directory: string,
  own: DeploymentIdentity,
): Promise<DeploymentIdentity | null> {
  const path = join(directory, MARK_FILE);
  await access(directory, constants.W_OK);
  try {
    // Of several processes that create it, one does.
    await writeFile(path, `${markOf(own)}\n`, { flag: 'wx' });
    return null;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const owner = ownerIn(await readMark(path));
  return owner.id === own.id ? null : owner;
}

/** The one who creates it may not have written it yet. */
async function readMark(path: string): Promise<string> {
  for (let reads = 0; reads < READS_MAX; reads += 1) {
    const mark = await readFile(path, 'utf8');
    if (mark.endsWith('\n')) return mark;
    await delay(READ_EVERY_MS);
  }
  throw new Error(`${path} is incomplete. Remove it, and start again.`);
}
