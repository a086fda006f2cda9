import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { listFiles } from '../check/source-files.ts';

export interface ModuleGraph {
  /** A module or a document is itself; any other file belongs to the modules beside it, or else of the next folder above. */
  modulesOf(path: string): string[];
  /** The modules that these import, directly or not, these, and the documents that tests among them name. */
  reachedFrom(entries: readonly string[]): string[];
}

const MODULE = /\.[cm]?[jt]sx?$/;
const REFERENCE = /(?:\bfrom|\bimport|new URL\()\s*\(?\s*'([^'\n]+)'/g;

const DOCUMENT = /\.md$/;
const TEST = /\.test\.ts$|^system-tests\//;
/** A document, or a folder of `docs/`. */
const DOCUMENT_NAME = /'((?:\.\.\/)*(?:docs\/[\w./-]+|README\.md))'/g;

/** Reads the imports of every module of the tree. */
export function readModuleGraph(root: string): ModuleGraph {
  const paths = listFiles(root);
  const known = new Set(paths);
  const exportsOf = new Map<string, Readonly<Record<string, string>>>();
  for (const path of paths.filter((each) => /^[^/]+\/package\.json$/.test(each))) {
    const manifest = JSON.parse(readFileSync(join(root, path), 'utf8')) as {
      name: string;
      exports?: Record<string, string>;
    };
    const entries = Object.entries(manifest.exports ?? {});
    exportsOf.set(
      manifest.name,
      Object.fromEntries(entries.map(([name, file]) => [name, join(dirname(path), String(file))])),
    );
  }
  const resolve = (from: string, reference: string): string | null => {
    if (reference.startsWith('.')) {
      const path = join(dirname(from), reference);
      return known.has(path) ? path : null;
    }
    const [scope, name, ...rest] = reference.split('/');
    return exportsOf.get(`${scope}/${name}`)?.[['.', ...rest].join('/')] ?? null;
  };
  const documents = paths.filter((path) => DOCUMENT.test(path));
  const documentsOf = (from: string, name: string) => {
    const path = name.startsWith('.') ? join(dirname(from), name) : name;
    return documents.filter((each) => each === path || each.startsWith(`${path}/`));
  };
  const modules = paths.filter((path) => MODULE.test(path));
  const imports = new Map(
    modules.map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      const found = [...text.matchAll(REFERENCE)].map(([, reference = '']) => resolve(path, reference));
      const names = TEST.test(path) ? [...text.matchAll(DOCUMENT_NAME)].map(([, name = '']) => name) : [];
      const named = names.flatMap((name) => documentsOf(path, name));
      return [path, [...found.filter((each) => each !== null), ...named]] as const;
    }),
  );
  return {
    modulesOf(path) {
      if (MODULE.test(path) || DOCUMENT.test(path)) return [path];
      for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
        const beside = modules.filter((each) => dirname(each) === folder);
        if (beside.length > 0) return beside;
      }
      return [];
    },
    reachedFrom(entries) {
      const reached = new Set(entries);
      for (const path of reached) for (const next of imports.get(path) ?? []) reached.add(next);
      return [...reached];
    },
  };
}
