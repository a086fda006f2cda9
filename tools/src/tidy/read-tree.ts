import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Cli from '@relay/cli';
import type * as Contract from '@relay/contract';
import { listFiles } from '../check/source-files.ts';
import { type CommandNode, commandTable } from './command-table.ts';
import type { Tree } from './tree.ts';

const BINARY = /\.(png|webp|ico|woff2?|gz|zip)$/;

export function readTree(root: string): Tree {
  return {
    files: listFiles(root).map((path) => ({
      path,
      // Documents may link to what has no text.
      text: BINARY.test(path) ? '' : readFileSync(join(root, path), 'utf8'),
    })),
  };
}

/** The list comes from the contract of the tree under test, which may be a copy. */
export async function readContract(root: string): Promise<Pick<typeof Contract, 'limitMetrics'>> {
  return (await importFrom(root, 'contract')) as typeof Contract;
}

/** The commands of the tree's own command line. */
export async function readCommands(root: string): Promise<CommandNode> {
  const { createProgram, processSurroundings } = (await importFrom(root, 'cli')) as typeof Cli;
  return commandTable(await createProgram({ ...processSurroundings(), env: {} }));
}

async function importFrom(root: string, member: string): Promise<unknown> {
  return await import(pathToFileURL(join(root, member, 'src/index.ts')).href);
}
