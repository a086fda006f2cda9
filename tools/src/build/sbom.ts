import type { Part } from './parts.ts';

/** What the repository's lockfile says of a package. */
interface LockEntry {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export interface Lockfile {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

export interface SbomInput {
  readonly product: Part & { readonly license: string };
  /** Packages whose code is part of the product's files. */
  readonly contained: readonly Part[];
  /** Packages that npm installs beside the product. */
  readonly dependencies: readonly Part[];
  readonly lock: Lockfile;
}

/** What the package is made of, as CycloneDX: scanners find no other trace of packages inside a bundle. */
export function sbomOf({ product, contained, dependencies, lock }: SbomInput): Record<string, unknown> {
  for (const part of dependencies)
    if (Object.keys(entryOf(lock, part).dependencies ?? {}).length > 0)
      throw new Error(`${part.name} has dependencies, which the SBOM would not name`);
  const components = new Map<string, object>();
  for (const part of contained) components.set(refOf(part), componentOf(lock, part, 'required'));
  // `relay start` alone needs them.
  for (const part of dependencies) components.set(refOf(part), componentOf(lock, part, 'optional'));
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      component: { type: 'application', ...identityOf(product), licenses: licensesOf(product.license) },
    },
    components: [...components].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, component]) => component),
  };
}

function componentOf(lock: Lockfile, part: Part, scope: 'required' | 'optional'): object {
  const { integrity, license } = entryOf(lock, part);
  const sha512 = /^sha512-(.+)$/.exec(integrity ?? '')?.[1];
  if (sha512 === undefined || license === undefined)
    throw new Error(`the lockfile has no hash or no license of ${refOf(part)}`);
  const content = Buffer.from(sha512, 'base64').toString('hex');
  return {
    type: 'library',
    ...identityOf(part),
    scope,
    hashes: [{ alg: 'SHA-512', content }],
    licenses: licensesOf(license),
  };
}

function identityOf(part: Part): object {
  return {
    'bom-ref': refOf(part),
    name: part.name,
    version: part.version,
    purl: `pkg:npm/${part.name.replace('@', '%40')}@${part.version}`,
  };
}

function licensesOf(license: string): object[] {
  return [/[ ()]/.test(license) ? { expression: license } : { license: { id: license } }];
}

function refOf({ name, version }: Part): string {
  return `${name}@${version}`;
}

/** The same version has the same hash wherever it is installed. */
function entryOf(lock: Lockfile, part: Part): LockEntry {
  const found = Object.entries(lock.packages).find(
    ([place, { version }]) => place.endsWith(`node_modules/${part.name}`) && version === part.version,
  );
  if (found === undefined) throw new Error(`${refOf(part)} ships, but is not in the lockfile`);
  return found[1];
}
