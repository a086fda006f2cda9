import { randomBytes } from 'node:crypto';
import { chmod, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

const NAMES = ['RELAY_API_TOKEN', 'RELAY_ADMIN_TOKEN', 'RELAY_MASTER_KEY', 'RELAY_AUTH_SECRET'] as const;
type SecretName = (typeof NAMES)[number];
export type StartSecrets = Partial<Record<SecretName, string>>;

/** The secrets of a data directory. Anyone who can read the file can call the gateway and decrypt its credentials. */
export interface KeptSecrets {
  readonly path: string;
  readonly values: StartSecrets;
  /** Whether `relay start` has already printed them. */
  readonly wereShown: boolean;
}

/** The secrets are unusable. The message says what to do. */
export class SecretsError extends Error {}

/** Fresh values: stored in a new data directory, or used once to validate the other settings. */
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
 * Reads the secrets of a data directory, and creates those that neither it nor the environment has. It never replaces the
 * master key of a directory in use, because the credentials in it could then not be decrypted.
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
      `${path} has no master key, and the data in this directory is encrypted with one. Restore the file from a backup, or set ` +
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
    if (!(error instanceof Error)) throw error;
    if ('code' in error && error.code === 'ENOENT') return null;
    throw new SecretsError(`${path} cannot be read: ${error.message}`);
  }
  try {
    const { shown, ...given }: Record<string, unknown> = JSON.parse(text);
    const values: StartSecrets = {};
    for (const name of NAMES) if (typeof given[name] === 'string') values[name] = given[name];
    return { values, wereShown: shown === true };
  } catch {
    // The message must not quote the file: it holds secrets.
    throw new SecretsError(`${path} is not JSON. Restore the file from a backup.`);
  }
}

/** Replaces the file atomically: a truncated one would lose the master key. */
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
