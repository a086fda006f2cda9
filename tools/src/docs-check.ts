// `npm run docs:check`: everything that documents name or link to exists, and what readers copy runs. The rules are those of
// `npm run tidy`; the snippets are those of `npm run system -- first-use`.
import { join } from 'node:path';
import { runCommand } from './check/run-command.ts';
import { documentCommands } from './tidy/document-commands.ts';
import { documentLinks, markdownFiles } from './tidy/document-links.ts';
import { documentPaths } from './tidy/document-paths.ts';
import { linksOf } from './tidy/markdown-code.ts';
import { readCommands, readTree } from './tidy/read-tree.ts';
import { type Finding, sayFinding } from './tidy/tree.ts';

const USAGE = `usage: npm run docs:check [-- --skip=snippets]
Prints one finding per line, and one JSON object as its last line:
  pages            documents in the repository, including generated ones
  links            links within the repository, including those to headings
  broken           broken links, and paths, scripts, suites, commands and options that don't exist
  snippets         code blocks in docs/clients and the README that were run, unchanged
  snippets_failed  those that failed; a page stops at its first failure
--skip=snippets leaves the last two null.
`;

interface Snippets {
  readonly snippets: number | null;
  readonly snippets_failed: number | null;
}

const ROOT = join(import.meta.dirname, '../..');

async function findBroken(): Promise<{ pages: number; links: number; broken: number }> {
  const tree = readTree(ROOT);
  const commands = await readCommands(ROOT);
  const found: readonly (readonly [rule: string, findings: readonly Finding[]])[] = [
    ['document-links', documentLinks(tree)],
    ['document-paths', documentPaths(tree)],
    ['document-commands', documentCommands(tree, commands)],
  ];
  for (const [rule, findings] of found)
    for (const finding of findings) process.stdout.write(sayFinding(rule, finding));
  const pages = markdownFiles(tree);
  return {
    pages: pages.length,
    links: pages.flatMap(linksOf).length,
    broken: found.flatMap(([, findings]) => findings).length,
  };
}

async function runSnippets(): Promise<Snippets> {
  const suite = join(ROOT, 'tools/src/run-tests.ts');
  const { ok, output } = await runCommand(process.execPath, [suite, 'system', 'first-use'], ROOT);
  if (!ok) process.stdout.write(output);
  const figures = figuresIn(output);
  const failed = figures?.failed ?? 0;
  return {
    snippets: figures?.run ?? 0,
    // A suite that failed otherwise, or that reported nothing, is not a success.
    snippets_failed: ok && figures !== null ? failed : Math.max(1, failed),
  };
}

function figuresIn(output: string): { readonly run: number; readonly failed: number } | null {
  const line = output.split('\n').findLast((each) => each.startsWith('{'));
  return line === undefined ? null : (JSON.parse(line) as { run: number; failed: number });
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(USAGE);
    return 0;
  }
  const skipped: Snippets = { snippets: null, snippets_failed: null };
  const documents = await findBroken();
  const snippets = args.includes('--skip=snippets') ? skipped : await runSnippets();
  process.stdout.write(`${JSON.stringify({ ...documents, ...snippets })}\n`);
  return documents.broken === 0 && documents.pages > 0 && (snippets.snippets_failed ?? 0) === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
