import { dirname, join, relative, sep } from 'node:path';
import type { Plugin } from 'rolldown';

const WORKER = /\bnew URL\(\s*'\.\/([\w-]+)\.ts',\s*import\.meta\.url,?\s*\)/g;
const OWN_FOLDER = /\bimport\.meta\.dirname\b/g;
const OTHER_SELF = /\bimport\.meta\.(url|filename|resolve)\b/;
const ANY_SELF = /\b(import\.meta\.(url|filename|dirname|resolve)|__dirname|__filename|require\.resolve)\b/;
const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;
/** Published modules that look for files of theirs, and why this does not matter here. */
const HARMLESS: Readonly<Record<string, string>> = {
  'pino/lib/transport.js': 'logs in a thread, which Relay does not',
  'thread-stream/index.js': 'logs in a thread, which Relay does not',
  'undici/index.js': 'adds its own place to traces of fetch, if it knows it',
};

export interface Placed {
  readonly code: string;
  /** Modules beside this one that run in a thread of their own, without their ending. */
  readonly workers: readonly string[];
  readonly readsFolder: boolean;
}

/**
 * A module of ours that asks for its own folder reads files there. In the bundle it lies elsewhere, so it is given the
 * folder at the same path below the bundle, into which the files are copied. Every file of the bundle lies at its top, and
 * so does a thread's. A module of others that asks for its folder cannot be in the bundle.
 */
export function ownFolder(root: string, seen: (folder: string) => void): Plugin {
  return {
    name: 'own-folder',
    transform: {
      // Of thousands of modules, a few look for something.
      filter: { code: ANY_SELF },
      handler(code, id) {
        if (!id.startsWith(root + sep)) return null;
        const file = relative(root, id).replaceAll(sep, '/');
        if (file.includes('node_modules/')) {
          refuseSelf(code, file);
          return null;
        }
        const placed = placeInBundle(code, file);
        if (placed === null) return null;
        if (placed.readsFolder) seen(dirname(file));
        for (const worker of placed.workers)
          this.emitFile({ type: 'chunk', id: join(dirname(id), `${worker}.ts`), fileName: `${worker}.js` });
        return { code: placed.code, map: null };
      },
    },
  };
}

/** Throws if a module of others looks for files beside it, which are not there in a bundle. */
export function refuseSelf(code: string, file: string): void {
  const name = file.slice(file.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const used = ANY_SELF.exec(code.replaceAll(COMMENT, ''))?.[0];
  if (used !== undefined && !(name in HARMLESS))
    throw new Error(
      `${name} uses ${used}, which means nothing in a bundle; leave its package outside, or say why it is harmless`,
    );
}

/** Null for a module that looks for nothing of its own. */
export function placeInBundle(code: string, file: string): Placed | null {
  const workers: string[] = [];
  const withWorkers = code.replaceAll(WORKER, (_all, name: string) => {
    workers.push(name);
    return `new URL('./${name}.js', import.meta.url)`;
  });
  const other = OTHER_SELF.exec(code.replaceAll(WORKER, ''))?.[0];
  if (other !== undefined)
    throw new Error(
      `${file} uses ${other}, which means nothing in a bundle; import.meta.dirname and new URL('./NAME.ts', import.meta.url) of a worker are carried over`,
    );
  const readsFolder = code.search(OWN_FOLDER) !== -1;
  if (!readsFolder && workers.length === 0) return null;
  const folder = `(import.meta.dirname + ${JSON.stringify(`/${dirname(file)}`)})`;
  return { code: withWorkers.replaceAll(OWN_FOLDER, folder), workers, readsFolder };
}
