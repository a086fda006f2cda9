// Style as failing rules over the whole tree. Each rule is a pure function in tidy/, with its own test.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { listFiles } from './check/source-files.ts';
import { decisionRecords } from './tidy/decision-records.ts';
import { documentCommands } from './tidy/document-commands.ts';
import { documentPaths } from './tidy/document-paths.ts';
import { errorPages } from './tidy/error-pages.ts';
import { fileLength } from './tidy/file-length.ts';
import { fileNames } from './tidy/file-names.ts';
import { machineTraces } from './tidy/machine-traces.ts';
import { migrationNames } from './tidy/migrations.ts';
import { readmes } from './tidy/readmes.ts';
import { testMarkers } from './tidy/test-markers.ts';
import type { Finding, Tree } from './tidy/tree.ts';

const BINARY = /\.(png|webp|ico|woff2?|gz|zip)$/;

function readTree(root: string): Tree {
  return {
    files: listFiles(root).map((path) => ({
      path,
      // Documents may link to what has no text.
      text: BINARY.test(path) ? '' : readFileSync(join(root, path), 'utf8'),
    })),
  };
}

/** The codes come from the contract of the tree under test, which may be a copy. */
async function errorCodes(root: string): Promise<string[]> {
  const file = pathToFileURL(join(root, 'contract/src/index.ts'));
  const contract = (await import(file.href)) as { readonly errors: Readonly<Record<string, unknown>> };
  return Object.keys(contract.errors);
}

async function main(args: readonly string[]): Promise<number> {
  const root = args.find((arg) => arg.startsWith('--root='))?.slice(7) ?? join(import.meta.dirname, '../..');
  const tree = readTree(root);
  const codes = await errorCodes(root);
  const rules: Readonly<Record<string, () => Finding[]>> = {
    'file-names': () => fileNames(tree),
    'file-length': () => fileLength(tree),
    readmes: () => readmes(tree),
    'document-paths': () => documentPaths(tree),
    'document-commands': () => documentCommands(tree),
    'machine-traces': () => machineTraces(tree),
    'test-markers': () => testMarkers(tree),
    'migration-names': () => migrationNames(tree),
    'error-pages': () => errorPages(tree, codes),
    'decision-records': () => decisionRecords(tree),
  };
  let count = 0;
  for (const [rule, find] of Object.entries(rules)) {
    for (const { path, line, message } of find()) {
      count += 1;
      process.stdout.write(`${path}${line === null ? '' : `:${line}`} ${rule}: ${message}\n`);
    }
  }
  process.stdout.write(`tidy: ${tree.files.length} files, ${count} findings\n`);
  return count === 0 && tree.files.length > 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
