import { resolve } from 'node:path';
import type { Surroundings } from './surroundings.ts';

const DIRECTORY = 'relay-data';

/** The data directory of `relay start`: from the option, the environment, or below the working directory. */
export function dataDirectoryOf(
  asked: string | undefined,
  { env, cwd }: Pick<Surroundings, 'env' | 'cwd'>,
): string {
  return resolve(cwd, asked ?? (env['RELAY_DATA_DIR']?.trim() || DIRECTORY));
}
