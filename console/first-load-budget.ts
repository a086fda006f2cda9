import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

/**
 * Fails the build when the gzipped JavaScript of the first load exceeds the budget: the entry and its static
 * imports. Pages that are imported when they open do not count.
 */
export function firstLoadBudget(bytesMax: number): Plugin {
  return {
    name: 'first-load-budget',
    apply: 'build',
    generateBundle(_options, bundle) {
      const entry = Object.values(bundle).find((file) => file.type === 'chunk' && file.isEntry);
      if (entry === undefined) throw new Error('the build has no entry to measure');
      const needed = new Set<string>();
      const queue = [entry.fileName];
      for (const name of queue) {
        const file = bundle[name];
        if (needed.has(name) || file?.type !== 'chunk') continue;
        needed.add(name);
        queue.push(...file.imports);
      }
      let bytes = 0;
      for (const name of needed) {
        const file = bundle[name];
        if (file?.type === 'chunk') bytes += gzipSync(file.code).byteLength;
      }
      const kib = (size: number) => (size / 1024).toFixed(1);
      if (bytes > bytesMax)
        throw new Error(`the first load is ${kib(bytes)} KiB gzipped; the budget is ${kib(bytesMax)} KiB`);
      this.info(`first load: ${kib(bytes)} KiB gzipped of ${kib(bytesMax)} KiB`);
    },
  };
}
