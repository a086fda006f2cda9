import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { ConfigFile } from '@relay/contract';
import type { Finding } from '@relay/contract/config-text';
import type { CheckOptions, ConfigText, FoundSecrets } from '@relay/server/config-file';
import { ApiError } from '../api/api-error.ts';
import { exitCodes, ProgramError } from '../kit/program-error.ts';
import { readInput } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { plain } from '../output/cells.ts';

/** A file that was read, valid or not. */
export interface ReadConfig extends ConfigText {
  readonly name: string;
}

export async function readConfig(
  surroundings: Surroundings,
  path: string,
  options: CheckOptions,
): Promise<ReadConfig> {
  const text = await readInput(surroundings, path);
  const { readConfigText } = await import('@relay/server/config-file');
  return { name: path === '-' ? 'standard input' : path, ...readConfigText(text, options) };
}

/** The configuration of a file that must be valid. It may refer to resources that exist on the server only. */
export async function readGoodConfig(
  surroundings: Surroundings,
  path: string,
): Promise<{ readonly read: ReadConfig; readonly config: ConfigFile }> {
  const read = await readConfig(surroundings, path, { references: 'anywhere' });
  if (read.config !== null) return { read, config: read.config };
  throw new ProgramError(
    read.findings.map((finding) => lineOf(read.name, finding)).join('\n  '),
    exitCodes.error,
    { fix: 'Correct the file, then check it. Run: `relay config validate`' },
  );
}

export function lineOf(name: string, finding: Pick<Finding, 'line' | 'column' | 'message'>): string {
  return `${name}:${finding.line}:${finding.column}: ${plain(finding.message)}`;
}

/** The referenced secrets that this machine has. */
export async function secretsOf(
  { env, cwd }: Surroundings,
  path: string,
  config: ConfigFile,
): Promise<FoundSecrets> {
  const { findSecrets } = await import('@relay/server/config-file');
  const folder = path === '-' ? cwd : dirname(resolve(cwd, path));
  return findSecrets(config, {
    variable: (name) => env[name],
    file: (file) => readFile(resolve(folder, file), 'utf8').catch(() => undefined),
  });
}

/** Reports a rejected file with the line of each invalid field. */
export async function atPlace<T>({ name, config, positionOf }: ReadConfig, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { pathInFile } = await import('@relay/contract/config-text');
    const lines = error.issues.flatMap(({ path, message }) => {
      const inFile = pathInFile(config, path);
      return inFile === null ? [] : [lineOf(name, { ...positionOf(inFile), message })];
    });
    if (lines.length === 0) throw error;
    throw new ProgramError(lines.join('\n  '), error.exitCode, error.detail);
  }
}
