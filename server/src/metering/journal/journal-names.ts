import { lstatSync, readdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** The process that writes a file. Process ids are reused, so the owner has an id of its own as well. */
export interface JournalOwner {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
}

export interface JournalName extends JournalOwner {
  readonly createdMs: number;
  readonly serial: number;
}

/** Six times the interval at which a live owner touches its files. */
const ABANDONED_MS = 60_000;
const NAME = /^usage-(\d{1,15})-(\d{1,10})-(\d{1,10})-([0-9a-f-]{36})-([\w.]+)\.jsonl$/;

export function thisProcess(id: string): JournalOwner {
  return { id, pid: process.pid, host: hostname().replaceAll(/[^\w.]/g, '_') || '_' };
}

export function nameOf({ createdMs, serial, pid, id, host }: JournalName): string {
  return `usage-${createdMs}-${serial}-${pid}-${id}-${host}.jsonl`;
}

export function parseName(name: string): JournalName | null {
  const match = NAME.exec(name);
  if (match === null) return null;
  const [, createdMs, serial, pid, id = '', host = ''] = match;
  return { createdMs: Number(createdMs), serial: Number(serial), pid: Number(pid), id, host };
}

/** `isAlone`: no other process uses the directory, so every other owner is dead. */
type Self = JournalOwner & { readonly isAlone: boolean };

/**
 * Names of the files whose owner is dead. Process ids are comparable on one host only, and not between containers, so a file
 * may be reported while its owner lives; the owner notices before it writes the next line.
 */
export function abandonedFiles(directory: string, self: Self, nowMs: number): string[] {
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

function isAbandoned(path: string, owner: JournalOwner, self: Self, nowMs: number): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  // The directory may be world-writable; files of other users are not trusted.
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
