import type { ConfigFile } from '@relay/contract';

/** What secret references point to. */
export interface SecretPlaces {
  readonly variable: (name: string) => string | undefined;
  /** The contents of a file; undefined when it cannot be read. Relative paths are relative to the configuration file. */
  readonly file: (path: string) => Promise<string | undefined>;
}

export interface FoundSecrets {
  /** By their references, as an apply carries them. */
  readonly secrets: Record<string, string>;
  /** The references that lead to nothing here. The server may have their secrets already. */
  readonly missing: readonly string[];
}

/** The secrets that the file refers to, as far as they can be found from here. An empty one counts as none. */
export async function findSecrets(config: ConfigFile, places: SecretPlaces): Promise<FoundSecrets> {
  const secrets: Record<string, string> = {};
  const missing: string[] = [];
  for (const ref of referencesIn(config)) {
    const secret = await lookUp(ref, places);
    if (secret === undefined || secret === '') missing.push(ref);
    else secrets[ref] = secret;
  }
  return { secrets, missing };
}

async function lookUp(ref: string, { variable, file }: SecretPlaces): Promise<string | undefined> {
  if (ref.startsWith('env:')) return variable(ref.slice('env:'.length));
  const text = await file(ref.slice('file:'.length));
  // Editors and `echo` end a file with a line break, which is not part of the secret.
  return text?.replace(/\r?\n$/, '');
}

/** Whatever kind of item it is that refers to a secret. */
function referencesIn(config: ConfigFile): ReadonlySet<string> {
  const items = Object.values(config).filter(Array.isArray).flat() as { readonly secret_ref?: unknown }[];
  return new Set(items.map((item) => item.secret_ref).filter((ref) => typeof ref === 'string'));
}
