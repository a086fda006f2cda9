import { dirname, join, relative, sep } from 'node:path';
import { rolldown } from 'rolldown';
import { ownFolder } from './own-folder.ts';

export interface Bundle {
  /** What is imported and not held, as it is written. */
  readonly imports: readonly string[];
  /** Members whose modules are in the bundle, by folder. */
  readonly members: readonly string[];
  /** Folders whose modules read files of their own. */
  readonly folders: readonly string[];
}

/** Our own modules as JavaScript, in few files; what others publish stays outside and is depended on. */
export async function writeBundle(root: string, directory: string): Promise<Bundle> {
  const folders = new Set<string>();
  const warnings: string[] = [];
  const inRoot = (id: string) => relative(root, id).replaceAll(sep, '/');
  const bundle = await rolldown({
    cwd: root,
    input: { cli: join(root, 'cli/src/index.ts') },
    platform: 'node',
    external: (id) => !/^([./]|@relay\/)/.test(id) && !id.startsWith(root + sep),
    plugins: [ownFolder(root, (folder) => folders.add(folder))],
    onLog: (_level, log) => warnings.push(log.message),
  });
  const { output } = await bundle.write({
    dir: directory,
    format: 'esm',
    entryFileNames: '[name].js',
    // The same names in every build, so that stack traces from other machines can be read here.
    chunkFileNames: ({ name, facadeModuleId, moduleIds }) =>
      `${inRoot(facadeModuleId ?? moduleIds.at(-1) ?? '').split('/')[0]}-${name}.js`,
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
  return {
    imports: chunks
      .flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])
      .filter((name) => !own.has(name)),
    members: [...new Set(modules.map((id) => inRoot(id).split('/')[0] ?? ''))].sort(),
    folders: [...folders].sort(),
  };
}
