import { isBuiltin } from 'node:module';

export interface MemberManifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** What is written by hand: also the command, and what is published. */
export interface ManifestTemplate {
  readonly name: string;
  readonly license: string;
}

export interface PublishedManifest extends ManifestTemplate {
  readonly version: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

export interface ManifestParts {
  readonly template: ManifestTemplate;
  readonly version: string;
  readonly engines: Readonly<Record<string, string>>;
  /** The members whose modules are in the bundle. */
  readonly members: readonly MemberManifest[];
  /** What the bundle imports and does not hold, as it is written there. */
  readonly imports: readonly string[];
}

const EXACT = /^\d+\.\d+\.\d+(-[\w.]+)?$/;

/** The published manifest: it depends on exactly what the bundle imports, in the versions that were tested. */
export function packageManifest(parts: ManifestParts): PublishedManifest {
  const dependencies: Record<string, string> = {};
  const names = new Set(parts.imports.filter((each) => !isBuiltin(each)).map(packageName));
  for (const name of [...names].sort()) {
    const versions = new Set(parts.members.flatMap((member) => member.dependencies?.[name] ?? []));
    const [version, another] = [...versions];
    if (version === undefined)
      throw new Error(`the bundle imports "${name}", which no bundled member depends on`);
    if (another !== undefined)
      throw new Error(`the bundled members want "${name}" in two versions: ${version} and ${another}`);
    if (!EXACT.test(version)) throw new Error(`"${name}" has no exact version: ${version}`);
    dependencies[name] = version;
  }
  return { ...parts.template, version: parts.version, engines: parts.engines, dependencies };
}

/** `@scope/name/part` and `name/part` without their parts. */
export function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
