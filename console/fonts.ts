import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Plugin } from 'vite';

const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/;
const NOTICES = 'licenses.md';

/**
 * Adds the licenses of the font packages to the notices, which name only packages with code, and fails the build when
 * the fonts exceed their budget.
 */
export function fonts(root: string, bytesMax: number): Plugin {
  return {
    name: 'fonts',
    apply: 'build',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const files = Object.values(bundle).filter(
          (file) => file.type === 'asset' && file.fileName.endsWith('.woff2'),
        );
        let bytes = 0;
        const folders = new Set<string>();
        for (const file of files) {
          if (file.type !== 'asset') continue;
          bytes += file.source.length;
          const folder = PACKAGE.exec(file.originalFileNames[0] ?? '')?.[0];
          if (folder === undefined) throw new Error(`${file.fileName} is of no package`);
          folders.add(resolve(root, folder));
        }
        const kib = (size: number) => (size / 1024).toFixed(1);
        if (bytes > bytesMax)
          throw new Error(`the fonts are ${kib(bytes)} KiB; their budget is ${kib(bytesMax)} KiB`);
        const notices = bundle[NOTICES];
        if (notices?.type !== 'asset') throw new Error(`the build has no ${NOTICES} to add to`);
        notices.source = `${notices.source}${[...folders].map(noticeOf).join('')}`;
        this.info(`fonts: ${kib(bytes)} KiB of ${kib(bytesMax)} KiB`);
      },
    },
  };
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

function noticeOf(folder: string): string {
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  const { name, version, license } = JSON.parse(read('package.json')) as Manifest;
  return `\n## ${name} - ${version} (${license})\n\n${read('LICENSE').trim()}\n`;
}
