import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ConfigFile } from '@relay/contract';
import { connect, dataOf } from '../api/client.ts';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { codeOf } from '../kit/values.ts';
import type { ConnectionOptions } from '../session/connection.ts';

export interface ExportOptions extends ConnectionOptions {
  readonly output: 'yaml' | 'json';
  readonly out?: string;
}

export async function exportConfig(surroundings: Surroundings, options: ExportOptions): Promise<void> {
  const api = await connect(surroundings, options);
  const config = (await dataOf(api.management.GET('/api/relay/config/export'))) as ConfigFile;
  const { writeConfigText } = await import('@relay/contract/config-text');
  const text = options.output === 'json' ? `${JSON.stringify(config, null, 2)}\n` : writeConfigText(config);
  await writeOut(surroundings, options.out, text);
}

/** Writes to standard output or to a file. */
export async function writeOut(
  { stdout, stderr, cwd }: Surroundings,
  path: string | undefined,
  text: string,
): Promise<void> {
  if (path === undefined) {
    stdout.write(text);
    return;
  }
  try {
    await writeFile(resolve(cwd, path), text);
  } catch (error) {
    throw new ProgramError(`Can't write ${path} (${codeOf(error) ?? 'unknown reason'}).`, exitCodes.error, {
      fix: 'Name a file in an existing, writable folder.',
    });
  }
  stderr.write(`Wrote ${path}.\n`);
}
