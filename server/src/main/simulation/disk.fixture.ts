/**
 * The disk of the simulated machines. While the simulation runs, the journal's `node:fs` and `node:fs/promises` are this module
 * (see `load-simulation.fixture.ts`). It survives processes.
 */
interface SimFile {
  text: string;
  mtimeMs: number;
  readonly ino: number;
}

export const constants = { O_WRONLY: 1, O_CREAT: 64, O_EXCL: 128, O_APPEND: 1_024, W_OK: 2 };

let files = new Map<string, SimFile>();
let open_ = new Map<number, SimFile>();
let serial = 10;
let isFull: () => boolean = () => false;

/** An empty disk. `full`: whether it refuses to write at the moment. */
export function formatDisk(full: () => boolean): void {
  files = new Map();
  open_ = new Map();
  serial = 10;
  isFull = full;
}

/** Files with something in them. */
export function filesLeft(): string[] {
  return [...files].filter(([, { text }]) => text !== '').map(([path]) => path);
}

export function mkdirSync(): void {}
export function accessSync(): void {}

export function openSync(path: string): number {
  if (isFull()) throw refusal('ENOSPC');
  if (files.has(path)) throw refusal('EEXIST');
  serial += 1;
  const file = { text: '', mtimeMs: Date.now(), ino: serial };
  files.set(path, file);
  open_.set(serial, file);
  return serial;
}

export function writeSync(fd: number, data: string | Uint8Array): number {
  const file = open_.get(fd);
  if (file === undefined) throw refusal('EBADF');
  if (isFull()) throw refusal('ENOSPC');
  file.text += typeof data === 'string' ? data : Buffer.from(data).toString('utf8');
  file.mtimeMs = Date.now();
  return Buffer.byteLength(data);
}

export function closeSync(fd: number): void {
  open_.delete(fd);
}

export function fdatasync(_fd: number, done: (error: Error | null) => void): void {
  setTimeout(() => done(null), 1);
}

export function fdatasyncSync(): void {}

export function fstatSync(fd: number): ReturnType<typeof statOf> {
  const file = open_.get(fd);
  if (file === undefined) throw refusal('EBADF');
  return statOf(file);
}

export function statSync(path: string, options?: { throwIfNoEntry?: boolean }) {
  const file = files.get(path);
  if (file !== undefined) return statOf(file);
  if (options?.throwIfNoEntry === false) return undefined;
  throw refusal('ENOENT');
}
export const lstatSync = statSync;

export function unlinkSync(path: string): void {
  if (!files.delete(path)) throw refusal('ENOENT');
}

/** Callers pass the real time. */
export function utimesSync(path: string): void {
  const file = files.get(path);
  if (file === undefined) throw refusal('ENOENT');
  file.mtimeMs = Date.now();
}

export function renameSync(from: string, to: string): void {
  const file = files.get(from);
  if (file === undefined) throw refusal('ENOENT');
  files.delete(from);
  files.set(to, file);
}

export function linkSync(from: string, to: string): void {
  const file = files.get(from);
  if (file === undefined) throw refusal('ENOENT');
  files.set(to, file);
}

export function readdirSync(directory: string): string[] {
  const within = `${directory}/`;
  return [...files.keys()].filter((path) => path.startsWith(within)).map((path) => path.slice(within.length));
}

/** Opens directories only, to sync them. */
export function open(_path: string, _flags: string, done: (error: Error | null, fd: number) => void): void {
  setTimeout(() => done(refusal('EISDIR'), 0), 1);
}
export function fsync(_fd: number, done: () => void): void {
  setTimeout(done, 1);
}
export function close(_fd: number, done: () => void): void {
  setTimeout(done, 1);
}

export async function readFile(path: string): Promise<Buffer> {
  const file = files.get(path);
  if (file === undefined) throw refusal('ENOENT');
  return Buffer.from(file.text);
}

export async function stat(path: string) {
  return statSync(path);
}

function statOf({ text, mtimeMs, ino }: SimFile) {
  return {
    size: Buffer.byteLength(text),
    mtimeMs,
    ino,
    uid: process.getuid?.() ?? 0,
    isFile: () => true,
  };
}

function refusal(code: string): Error {
  return Object.assign(new Error(code), { code });
}
