import { resolve } from 'node:path';
import type { Surroundings } from './surroundings.ts';

const DIRECTORY = 'relay-data';

/** Where `relay start` keeps everything: as asked for, or as the environment says, or below the working directory. */
export function dataDirectoryOf(
  asked: string | undefined,
  { env, cwd }: Pick<Surroundings, 'env' | 'cwd'>,
): string {
  return resolve(cwd, asked ?? (env['RELAY_DATA_DIR']?.trim() || DIRECTORY));
}
