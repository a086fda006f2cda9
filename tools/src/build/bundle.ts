import { readFileSync } from 'node:fs';
import { findPackageJSON, isBuiltin } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { rolldown } from 'rolldown';
import { type MemberManifest, packageName } from './manifest.ts';
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

/** Whose dependencies may stay outside. */
const CONSUMERS = ['cli', 'server'];
/** Installed, these are many times what is used of them, mostly by what they depend on. */
const HELD = /^(better-auth|kysely|@nats-io|@smithy\/signature-v4)(\/|$)/;

/** Our own modules as JavaScript, in few files; what others publish stays outside and is depended on, but for a few. */
export async function writeBundle(root: string, directory: string): Promise<Bundle> {
  const folders = new Set<string>();
  const warnings: string[] = [];
  const inRoot = (id: string) => relative(root, id).replaceAll(sep, '/');
  const bundle = await rolldown({
    cwd: root,
    input: { cli: join(root, 'cli/src/index.ts') },
    platform: 'node',
    external: (id, importer) => isLeftOutside(id, importer, root),
    plugins: [ownFolder(root, (folder) => folders.add(folder))],
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
      .filter((name) => !own.has(name)),
    members: [...new Set(ours.map((id) => inRoot(id).split('/')[0] ?? ''))].sort(),
    folders: [...folders].sort(),
    held: [...new Set(others.map(packageFolder))].sort(),
  };
}

/** What a held package needs is held with it, unless our own modules depend on the very same package. */
function isLeftOutside(id: string, importer: string | undefined, root: string): boolean {
  if (/^([./]|@relay\/)/.test(id) || id.startsWith(root + sep)) return false;
  if (isBuiltin(id)) return true;
  if (HELD.test(id)) return false;
  if (importer === undefined || !isOfOthers(importer)) return true;
  const name = packageName(id);
  return CONSUMERS.map((member) => join(root, member, 'package.json')).some(
    (manifest) =>
      dependsOn(manifest, name) && findPackageJSON(name, manifest) === findPackageJSON(name, importer),
  );
}

function dependsOn(manifest: string, name: string): boolean {
  const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as MemberManifest;
  return name in dependencies;
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
