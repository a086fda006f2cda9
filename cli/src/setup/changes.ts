import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import { readIfPresent } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { codeOf } from '../kit/values.ts';
import { contextsPath } from '../session/contexts.ts';

/** A setup's change to one file, stored for undo. */
interface Change {
  readonly path: string;
  readonly existed: boolean;
  /** The hash of the written file, to detect later edits. */
  readonly sha256: string;
}

export function backupPath(path: string): string {
  return `${path}.relay-backup`;
}

/** The first setup creates a backup; later ones keep it. A file with a key in it is for its owner alone. */
export async function applyChange(
  surroundings: Surroundings,
  client: string,
  path: string,
  after: string,
  hasKey = false,
): Promise<void> {
  const earlier = await readChange(surroundings, client);
  const isFirst = earlier === null || earlier.path !== path;
  let existed = earlier?.existed ?? false;
  if (isFirst) {
    const before = await bytesOf(path);
    existed = before !== null;
    if (before !== null) {
      await writeFile(backupPath(path), before, { mode: 0o600 });
      await chmod(backupPath(path), await modeOf(path));
    }
  }
  await mkdir(dirname(path), { recursive: true });
  const aside = `${path}.relay-new`;
  await writeFile(aside, after, { mode: 0o600 });
  if (existed && !hasKey && (await bytesOf(path)) !== null) await chmod(aside, await modeOf(path));
  await rename(aside, path);
  const change: Change = { path, existed, sha256: hashOf(Buffer.from(after)) };
  await mkdir(dirname(changePath(surroundings, client)), { recursive: true, mode: 0o700 });
  await writeFile(changePath(surroundings, client), `${JSON.stringify(change)}\n`, { mode: 0o600 });
}

/** Restores the original file, or deletes a file that was new. */
export async function undoChange(
  surroundings: Surroundings,
  client: string,
  isForced: boolean,
): Promise<{ readonly path: string; readonly existed: boolean }> {
  const change = await readChange(surroundings, client);
  if (change === null) {
    throw new ProgramError(`No Relay settings found for ${client}.`, exitCodes.notFound, {
      fix: `Run: \`relay setup ${client}\``,
    });
  }
  const { path, existed, sha256 } = change;
  const now = await bytesOf(path);
  if (now !== null && hashOf(now) !== sha256 && !isForced) {
    throw new ProgramError(`${path} has changed since setup.`, exitCodes.error, {
      fix: `Check the changes. To ${existed ? `restore ${backupPath(path)}` : 'delete the file'} anyway, run: \`relay setup ${client} --undo --force\``,
    });
  }
  if (existed) await rename(backupPath(path), path);
  else await rm(path, { force: true });
  await rm(changePath(surroundings, client), { force: true });
  return { path, existed };
}

async function readChange(surroundings: Surroundings, client: string): Promise<Change | null> {
  const text = await readIfPresent(changePath(surroundings, client));
  return text === null ? null : JSON.parse(text);
}

function changePath(surroundings: Surroundings, client: string): string {
  return join(dirname(contextsPath(surroundings)), 'setup', `${client}.json`);
}

async function bytesOf(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
