import { execFile } from 'node:child_process';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Kept between runs: it holds the base image, which takes most of a minute to make. */
export const CACHE = join(homedir(), '.cache/relay-image');

const STORAGE = [
  '--storage-driver',
  'vfs',
  '--root',
  join(CACHE, 'storage'),
  '--runroot',
  join(tmpdir(), 'relay-image-run'),
];

/** What the program printed, trimmed; throws with all that it said when it fails. */
export async function capture(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(program, [...args], { maxBuffer: 64 * 1024 * 1024 }).catch(
    (error: unknown) => {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr || String(error)}`);
    },
  );
  return stdout.trim();
}

/** Images and containers of their own place, without an engine, a daemon or namespaces. */
export function buildah(command: string, ...args: readonly string[]): Promise<string> {
  const isolation = ['bud', 'run'].includes(command) ? ['--isolation', 'chroot'] : [];
  return capture('buildah', [...STORAGE, command, ...isolation, ...args]);
}
