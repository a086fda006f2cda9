import type { ConfigFile } from '@relay/contract';

/** Where secret references are looked up. */
export interface SecretPlaces {
  readonly variable: (name: string) => string | undefined;
  /** The contents of a file; undefined when it cannot be read. Relative paths are relative to the configuration file. */
  readonly file: (path: string) => Promise<string | undefined>;
}

export interface FoundSecrets {
  /** By reference, as an apply carries them. */
  readonly secrets: Record<string, string>;
  /** References without a value here. The server may already have their secrets. */
  readonly missing: readonly string[];
}

/** Looks up the secrets that the file refers to. An empty value counts as missing. */
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

/** Collects references from every section, whatever the kind of item. */
function referencesIn(config: ConfigFile): ReadonlySet<string> {
  const items = Object.values(config).filter(Array.isArray).flat() as { readonly secret_ref?: unknown }[];
  return new Set(items.map((item) => item.secret_ref).filter((ref) => typeof ref === 'string'));
}
