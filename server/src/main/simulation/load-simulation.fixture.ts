import { registerHooks } from 'node:module';

/** A deliberate fault in the text of the product, which the simulation has to find. */
export interface PlantedBug {
  readonly name: string;
  /** The end of the file's path, and what is replaced in it. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const DISK = new URL('./disk.fixture.ts', import.meta.url).href;
const TIMERS = new URL('./timers-promises.fixture.ts', import.meta.url).href;

/** The journal's disk, and the timers of all code of the product. */
function standInFor(specifier: string, importedBy: string): string | null {
  if (specifier.startsWith('node:fs') && importedBy.includes('/metering/journal/')) return DISK;
  return specifier === 'node:timers/promises' && importedBy.includes('/server/src/') ? TIMERS : null;
}

/**
 * Loads the simulation with the product's code. Disk and timers are simulated, and a bug may be planted: all have to be in
 * place before the code is loaded, so a process loads it once.
 */
export async function loadSimulation(bug: PlantedBug | null) {
  let planted = 0;
  registerHooks({
    resolve(specifier, context, next) {
      const url = standInFor(specifier, context.parentURL ?? '');
      return url === null
        ? next(specifier, context)
        : { url, format: 'module-typescript', shortCircuit: true };
    },
    load(url, context, next) {
      const loaded = next(url, context);
      if (bug === null || !url.endsWith(bug.file)) return loaded;
      const source = String(loaded.source);
      const changed = source.replaceAll(bug.from, bug.to);
      if (changed !== source) planted += 1;
      return { ...loaded, source: changed };
    },
  });
  const { simulate } = await import('./simulate.fixture.ts');
  if (bug !== null && planted === 0) throw new Error(`nothing to plant for "${bug.name}"`);
  return simulate;
}
