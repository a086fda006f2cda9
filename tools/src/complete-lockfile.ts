// `npm run lock`: a lockfile that `npm ci` accepts on every platform.
//
// Where the registry in use does not carry a package's binaries for other platforms, npm leaves them out of the
// lockfile, and `npm ci` then refuses it as out of step. Their versions are exact in the package that wants them, so
// the entries can be written down from there.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface LockEntry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: string[];
  readonly cpu?: string[];
  readonly libc?: string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Lockfile {
  readonly packages: Record<string, LockEntry>;
}

const SYSTEMS = new Set([
  'android',
  'darwin',
  'freebsd',
  'linux',
  'win32',
  'openharmony',
  'netbsd',
  'openbsd',
  'sunos',
  'aix',
]);
const PROCESSORS = new Set([
  'x64',
  'arm64',
  'arm',
  'ia32',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'loong64',
  'mips64el',
]);
const LIBRARIES: Readonly<Record<string, string>> = {
  musl: 'musl',
  musleabihf: 'musl',
  gnu: 'glibc',
  gnueabihf: 'glibc',
};

/** Answers the names it added; entries that are there already are left alone. */
export function completeLockfile(lock: Lockfile): string[] {
  const added: string[] = [];
  for (const entry of Object.values({ ...lock.packages })) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const key = `node_modules/${name}`;
      const platform = platformOf(name);
      if (lock.packages[key] !== undefined || platform === null) continue;
      lock.packages[key] = {
        version,
        ...(entry.dev === true ? { dev: true } : {}),
        optional: true,
        ...platform,
      };
      added.push(name);
    }
  }
  return added;
}

/** The platform a binary package is named for; null for a package that is not named for one. */
function platformOf(name: string): Pick<LockEntry, 'os' | 'cpu' | 'libc'> | null {
  const words = name.split(/[-/]/);
  const os = words.filter((word) => SYSTEMS.has(word));
  const cpu = words.filter((word) => PROCESSORS.has(word));
  const libc = words.flatMap((word) => LIBRARIES[word] ?? []);
  if (os.length === 0 && cpu.length === 0) return null;
  return {
    ...(os.length > 0 ? { os } : {}),
    ...(cpu.length > 0 ? { cpu } : {}),
    ...(libc.length > 0 ? { libc } : {}),
  };
}

if (import.meta.main) {
  const path = join(import.meta.dirname, '../../package-lock.json');
  const lock = JSON.parse(readFileSync(path, 'utf8')) as Lockfile;
  const added = completeLockfile(lock);
  const packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(path, `${JSON.stringify({ ...lock, packages }, null, 2)}\n`);
  process.stdout.write(`package-lock.json: ${added.length} platform packages added\n`);
}
