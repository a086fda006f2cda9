import { isBuiltin } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { rolldown } from 'rolldown';
import { packageName } from './manifest.ts';
import { ownFolder } from './own-folder.ts';

export interface Bundle {
  /** What is imported and not held, as it is written. */
  readonly imports: readonly string[];
  /** Members whose modules are in the bundle, by folder. */
  readonly members: readonly string[];
  /** Folders whose modules read files of their own. */
  readonly folders: readonly string[];
  /** Packages of others whose modules are in the bundle, by folder. */
  readonly held: readonly string[];
}

/** The embedded PostgreSQL reads files of its own: 26 MB, which only `relay start` needs. */
const OUTSIDE: readonly string[] = ['@electric-sql/pglite'];
/** Native parts that packages load if an operator has installed them, and do without. */
const NOT_INSTALLED: readonly string[] = ['pg-native', '@node-rs/xxhash'];

/** All modules that the program uses as JavaScript, in few files. */
export async function writeBundle(root: string, directory: string): Promise<Bundle> {
  const folders = new Set<string>();
  const warnings: string[] = [];
  const inRoot = (id: string) => relative(root, id).replaceAll(sep, '/');
  const bundle = await rolldown({
    cwd: root,
    input: { cli: join(root, 'cli/src/index.ts') },
    platform: 'node',
    external: isLeftOutside,
    plugins: [ownFolder(root, (folder) => folders.add(folder))],
    // Timings depend on how busy the machine is.
    checks: { bundlerTimings: false },
    onLog: (_level, log) => warnings.push(log.message),
  });
  const { output } = await bundle.write({
    dir: directory,
    format: 'esm',
    entryFileNames: '[name].js',
    // The same names in every build, so that stack traces from other machines can be read here.
    chunkFileNames: ({ name, facadeModuleId, moduleIds }) =>
      `${roomOf(inRoot(facadeModuleId ?? moduleIds.at(-1) ?? ''))}-${name.replace(/^\W+/, '')}.js`,
    // Names and lines suffice for a trace; the text of the sources would make up most of the package.
    sourcemap: true,
    sourcemapExcludeSources: true,
    sourcemapPathTransform: (source, map) => `../${inRoot(join(dirname(map), source))}`,
  });
  await bundle.close();
  if (warnings.length > 0) throw new Error(`the bundler warns:\n${warnings.join('\n')}`);
  const chunks = output.filter((each) => each.type === 'chunk');
  const own = new Set(chunks.map(({ fileName }) => fileName));
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds).filter((id) => id.startsWith(root + sep));
  const [others, ours] = [modules.filter(isOfOthers), modules.filter((id) => !isOfOthers(id))];
  return {
    imports: chunks
      .flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])
      .filter((name) => !own.has(name) && !NOT_INSTALLED.includes(packageName(name))),
    members: [...new Set(ours.map((id) => inRoot(id).split('/')[0] ?? ''))].sort(),
    folders: [...folders].sort(),
    held: [...new Set(others.map(packageFolder))].sort(),
  };
}

function isLeftOutside(id: string): boolean {
  return isBuiltin(id) || [...OUTSIDE, ...NOT_INSTALLED].includes(packageName(id));
}

function isOfOthers(id: string): boolean {
  return id.includes(`${sep}node_modules${sep}`);
}

/** The folder of the package that a file is from. */
function packageFolder(file: string): string {
  const within = `${sep}node_modules${sep}`;
  const at = file.lastIndexOf(within) + within.length;
  return file.slice(0, at) + packageName(file.slice(at).replaceAll(sep, '/'));
}

/** The folder at the top that a file is from; of what others publish, one for all. */
function roomOf(path: string): string {
  const [top = ''] = path.split('/');
  return /^[a-z][\w-]*$/.test(top) && !path.includes('node_modules/') ? top : 'others';
}
