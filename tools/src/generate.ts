import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compareFiles, type Difference, writeFiles } from './generate/compare-files.ts';
import { resourceLists } from './generate/resource-lists.ts';

/**
 * Writes every generated file, or with --check only says which differ.
 *
 *   node tools/src/generate.ts [--check] [--root DIR]
 */
const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    root: { type: 'string', default: resolve(import.meta.dirname, '../..') },
  },
});

// The lists of resources first: all else is made of what they import.
const lists = await resourceLists();
const all = lists.map(({ path }): Difference => ({ kind: 'stale', path }));
if (!values.check) await writeFiles(values.root, lists, all);
const { generatedFiles } = await import('./generate/generated-files.ts');

const files = await generatedFiles();
const differences = await compareFiles(values.root, files);
const left = values.check ? differences : await writeFiles(values.root, files, differences);

for (const difference of left) process.stderr.write(`${describe(difference)}\n`);
if (left.length > 0) {
  process.exitCode = 1;
} else {
  const changed = values.check ? '' : `, ${differences.length} changed`;
  process.stdout.write(`generate: ${files.length} files${changed}\n`);
}

function describe({ kind, path }: Difference): string {
  switch (kind) {
    case 'missing':
      return `missing: ${path} (run npm run generate)`;
    case 'stale':
      return `stale: ${path} (run npm run generate)`;
    case 'extra':
      return `extra: ${path} (nothing generates it; run npm run generate to remove it)`;
    case 'foreign':
      return `foreign: ${path} (this folder holds generated files only; move it elsewhere)`;
  }
}
