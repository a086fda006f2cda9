import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export interface DevSecrets {
  readonly apiToken: string;
  readonly adminToken: string;
  /** 32 bytes in base64. It must stay the same, or stored credentials cannot be opened after a restart. */
  readonly masterKey: string;
}

/** Made on the first start and kept beside the caches, so that restarts keep working with the same data. */
export function devSecrets(file: string, random: (bytes: number) => Buffer = randomBytes): DevSecrets {
  const kept = readSecrets(file);
  if (kept !== null) return kept;
  const made = {
    apiToken: random(24).toString('hex'),
    adminToken: random(24).toString('hex'),
    masterKey: random(32).toString('base64'),
  };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
  return made;
}

function readSecrets(file: string): DevSecrets | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as DevSecrets;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw new Error(`can't read ${file}; delete it to generate new secrets`, { cause: error });
  }
}
