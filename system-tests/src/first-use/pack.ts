import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Packed {
  readonly archive: string;
  readonly bytes: number;
  readonly unpacked_bytes: number;
  readonly files: number;
  readonly seconds: number;
}

const BUILD = join(import.meta.dirname, '../../../tools/src/build.ts');
const PACK_MS_MAX = 600_000;

/** Builds and packs as a release does, into the directory. */
export async function pack(directory: string): Promise<Packed> {
  const args = [BUILD, '--pack', '--out', directory];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: PACK_MS_MAX });
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Packed;
}
