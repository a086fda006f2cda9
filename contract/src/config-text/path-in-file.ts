/**
 * The path in the configuration file that a server error is about. The server names a field of the request's body, in
 * which the file is `config`, or names a secret by its reference. Null when the error is about no part of the file.
 */
export function pathInFile(file: unknown, path: string): string | null {
  if (!isObject(file)) return null;
  const inFile = path.replace(/^config(?:\.|$)/, '');
  const ref = /^secrets\["(.*)"\]$/.exec(inFile)?.[1];
  if (ref !== undefined) return referencePath(file, ref);
  const section = /^\w+/.exec(inFile)?.[0];
  return section !== undefined && Object.hasOwn(file, section) ? inFile : null;
}

function referencePath(file: Readonly<Record<string, unknown>>, ref: string): string | null {
  for (const [section, items] of Object.entries(file)) {
    if (!Array.isArray(items)) continue;
    const index = items.findIndex((item: unknown) => isObject(item) && item['secret_ref'] === ref);
    if (index !== -1) return `${section}[${index}].secret_ref`;
  }
  return null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
