/** An entry of a lockfile, as far as it says what a package depends on. */
export interface LockEntry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Lockfile {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** The members whose dependencies a published package may have. */
const MEMBERS = ['server', 'cli', 'contract', 'provider-sim'];
const WITHIN = 'node_modules/';

/**
 * The lockfile of the published package: of the repository's lockfile, the entries that the package's dependencies lead to.
 * So `npm ci` installs the versions that were tested, where npm alone would take the newest that fit. The addresses, which the
 * repository leaves to each machine, spare npm the long document about every package.
 */
export function lockedPackage(lock: Lockfile, manifest: Manifest, registry: string): Record<string, unknown> {
  const taken = new Map<string, LockEntry>();
  const open: string[] = [];
  const take = (from: string): void => {
    const to = from.slice(from.indexOf(WITHIN));
    const { dev: _dev, ...entry } = lock.packages[from] ?? {};
    const other = taken.get(to);
    if (other !== undefined && other.version !== entry.version)
      throw new Error(`${to} is wanted in two versions: ${other.version} and ${entry.version}`);
    if (other !== undefined) return;
    taken.set(to, { ...entry, resolved: addressOf(to, entry, registry) });
    open.push(from);
  };
  for (const [name, version] of Object.entries(manifest.dependencies)) {
    const place = MEMBERS.map((member) => find(lock, member, name)).find(
      (each) => each !== null && lock.packages[each]?.version === version,
    );
    if (place === undefined || place === null) throw new Error(`the lockfile has no ${name} ${version}`);
    take(place);
  }
  for (let from = open.pop(); from !== undefined; from = open.pop()) {
    const { dependencies = {}, optionalDependencies = {} } = lock.packages[from] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = find(lock, from, name);
      if (place !== null) take(place);
      else if (!(name in optionalDependencies)) throw new Error(`the lockfile has no ${name} for ${from}`);
    }
  }
  const { name, version, dependencies } = manifest;
  return {
    name,
    version,
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { name, version, dependencies },
      ...Object.fromEntries([...taken].sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

/** Where registries keep an archive. npm puts in the host of another machine's registry. */
function addressOf(place: string, { version }: LockEntry, registry: string): string {
  const name = place.slice(place.lastIndexOf(WITHIN) + WITHIN.length);
  return `${registry.replace(/\/?$/, '/')}${name}/-/${name.slice(name.indexOf('/') + 1)}-${version}.tgz`;
}

/** Where Node finds a package from a folder: in the nearest `node_modules` above it. */
function find(lock: Lockfile, folder: string, name: string): string | null {
  for (let at = folder; at !== ''; at = at.includes('/') ? at.slice(0, at.lastIndexOf('/')) : '') {
    if (at.endsWith('/node_modules')) continue;
    const place = `${at}/${WITHIN}${name}`;
    if (place in lock.packages) return place;
  }
  return `${WITHIN}${name}` in lock.packages ? `${WITHIN}${name}` : null;
}
