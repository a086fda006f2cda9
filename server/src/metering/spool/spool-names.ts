import { lstatSync, readdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** Who writes a file. The id is of the process, since the next one may have the same host and process number. */
export interface SpoolOwner {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
}

export interface SpoolName extends SpoolOwner {
  readonly createdMs: number;
  readonly serial: number;
}

/** A living owner touches its files six times as often. */
const ABANDONED_MS = 60_000;
const NAME = /^usage-(\d{1,15})-(\d{1,10})-(\d{1,10})-([0-9a-f-]{36})-([\w.]+)\.jsonl$/;

export function thisProcess(id: string): SpoolOwner {
  return { id, pid: process.pid, host: hostname().replaceAll(/[^\w.]/g, '_') || '_' };
}

export function nameOf({ createdMs, serial, pid, id, host }: SpoolName): string {
  return `usage-${createdMs}-${serial}-${pid}-${id}-${host}.jsonl`;
}

export function parseName(name: string): SpoolName | null {
  const match = NAME.exec(name);
  if (match === null) return null;
  const [, createdMs, serial, pid, id = '', host = ''] = match;
  return { createdMs: Number(createdMs), serial: Number(serial), pid: Number(pid), id, host };
}

/**
 * Names of files whose owner is gone; with the directory to itself a process is the only owner that lives. Process numbers mean something on one host only, and in a container not even there:
 * a file may be taken for abandoned while its owner lives, who notices before it writes the next line.
 */
export function abandonedFiles(
  directory: string,
  self: SpoolOwner & { readonly isAlone: boolean },
  nowMs: number,
): string[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
  const found = names.flatMap((name) => parseName(name) ?? []);
  return found
    .filter(
      (owner) => owner.id !== self.id && isAbandoned(join(directory, nameOf(owner)), owner, self, nowMs),
    )
    .map(nameOf);
}

function isAbandoned(
  path: string,
  owner: SpoolOwner,
  self: SpoolOwner & { readonly isAlone: boolean },
  nowMs: number,
): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  // The directory may be one that anybody writes to; what another user has put there is not ours to believe.
  if (stat === undefined || !stat.isFile() || stat.uid !== (process.getuid?.() ?? stat.uid)) return false;
  if (self.isAlone || nowMs - stat.mtimeMs > ABANDONED_MS) return true;
  return owner.host === self.host && (owner.pid === self.pid || !isRunning(owner.pid));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
