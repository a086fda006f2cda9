import { randomBytes } from 'node:crypto';
import { chmod, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

const NAMES = ['RELAY_API_TOKEN', 'RELAY_ADMIN_TOKEN', 'RELAY_MASTER_KEY', 'RELAY_AUTH_SECRET'] as const;
type SecretName = (typeof NAMES)[number];
export type StartSecrets = Partial<Record<SecretName, string>>;

/** What a data directory keeps to itself: whoever can read it can use the gateway and open what is sealed. */
export interface KeptSecrets {
  readonly path: string;
  readonly values: StartSecrets;
  /** Whether somebody has been shown them. */
  readonly wereShown: boolean;
}

/** The secrets cannot be used; the text says what to do. */
export class SecretsError extends Error {}

/** Values that hold as long as the process, to see whether everything else could be used. */
export function randomSecrets(): Record<SecretName, string> {
  const token = () => randomBytes(24).toString('base64url');
  return {
    RELAY_API_TOKEN: `relay-api-${token()}`,
    RELAY_ADMIN_TOKEN: `relay-admin-${token()}`,
    RELAY_MASTER_KEY: randomBytes(32).toString('base64'),
    RELAY_AUTH_SECRET: randomBytes(32).toString('base64url'),
  };
}

/**
 * Reads the secrets of a data directory, and makes those that neither it nor the environment has. The master key is never made
 * anew for a directory that was used before: what is sealed with the one before could not be opened any more.
 */
export async function keepSecrets(
  directory: string,
  options: {
    readonly isGiven: (name: SecretName) => boolean;
    readonly isUsed: boolean;
    readonly hasTokens: boolean;
  },
): Promise<KeptSecrets> {
  const path = join(directory, 'secrets.json');
  const known = await readSecrets(path);
  const needed = NAMES.filter((name) => options.hasTokens || !name.endsWith('_TOKEN'));
  const missing = needed.filter((name) => known?.values[name] === undefined && !options.isGiven(name));
  if (missing.includes('RELAY_MASTER_KEY') && options.isUsed)
    throw new SecretsError(
      `${path} has no master key, and what this directory holds is sealed with one. Restore the file from a backup, or set ` +
        'RELAY_MASTER_KEY to the key that was used before.',
    );
  if (missing.length === 0 && known !== null) return { path, ...known };
  const fresh = randomSecrets();
  const values: StartSecrets = { ...known?.values };
  for (const name of missing) values[name] = fresh[name];
  const wereShown = !missing.some((name) => name.endsWith('_TOKEN'));
  await writeSecrets(path, values, wereShown);
  return { path, values, wereShown };
}

export async function noteShown({ path, values }: KeptSecrets): Promise<void> {
  await writeSecrets(path, values, true);
}

async function readSecrets(path: string): Promise<Pick<KeptSecrets, 'values' | 'wereShown'> | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
    await chmod(path, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new SecretsError(`${path} cannot be read: ${(error as Error).message}`);
  }
  try {
    const { shown, ...given } = JSON.parse(text) as Record<string, unknown>;
    const values: StartSecrets = {};
    for (const name of NAMES) if (typeof given[name] === 'string') values[name] = given[name];
    return { values, wereShown: shown === true };
  } catch {
    // What is in it must not be quoted.
    throw new SecretsError(`${path} is not JSON. Restore the file from a backup.`);
  }
}

/** Whole or not at all: a file that is cut off has no master key. */
async function writeSecrets(path: string, values: StartSecrets, shown: boolean): Promise<void> {
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify({ ...values, shown }, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}
