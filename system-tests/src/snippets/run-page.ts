import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Block, ClientPage } from './read-pages.ts';

/** Where snippets run: the folder of `relay start`, with `relay` and the clients' packages in it. */
export interface SnippetFolder {
  readonly path: string;
  readonly url: string;
  readonly apiToken: string;
  readonly env: Readonly<Record<string, string>>;
  /** Packages that `npm install` of a page may name. */
  readonly packages: ReadonlySet<string>;
}

const SNIPPET_MS_MAX = 30_000;
/** The address on the pages, and the placeholder for the key. */
const SHOWN_URL = 'http://127.0.0.1:8080';
const SHOWN_KEY = 'relay-api-…';

/** Runs the page from top to bottom; variables that a block exports reach the later ones. Answers the number of blocks run. */
export async function runPage(folder: SnippetFolder, { name, blocks }: ClientPage): Promise<number> {
  const exported: string[] = [];
  let printed = '';
  let ran = 0;
  for (const block of blocks) {
    const at = `${name}:${block.line}`;
    if (block.mark === 'output') assertPrinted(at, block, printed.replaceAll(folder.url, SHOWN_URL));
    if (block.mark !== 'run') continue;
    const text = block.text.replaceAll(SHOWN_URL, folder.url).replaceAll(SHOWN_KEY, folder.apiToken);
    const command = block.language === 'js' ? saveModule(folder, text) : shellCommand(at, folder, text);
    printed = await runShell(at, folder, [...exported, command].join('\n'));
    exported.push(...text.split('\n').filter((line) => line.startsWith('export ')));
    ran += 1;
  }
  return ran;
}

function assertPrinted(at: string, block: Block, printed: string): void {
  const missing = block.text.split('\n').filter((line) => !printed.includes(line.trim()));
  if (missing.length > 0) throw new Error(`${at}: not printed: ${missing.join('\n')}\nbut:\n${printed}`);
}

function saveModule(folder: SnippetFolder, text: string): string {
  writeFileSync(join(folder.path, 'snippet.mjs'), text);
  return 'node snippet.mjs';
}

/** The packages are installed with the repository, so `npm install` is compared with its lock file instead. */
function shellCommand(at: string, { packages }: SnippetFolder, text: string): string {
  const lines = text.split('\n');
  const installed = lines
    .filter((line) => line.startsWith('npm install '))
    .flatMap((line) => line.split(' ').slice(2));
  const unknown = installed.filter((each) => !packages.has(each));
  if (unknown.length > 0) throw new Error(`${at} installs ${unknown.join(', ')}, which CI doesn't have`);
  return lines.filter((line) => !line.startsWith('npm install ')).join('\n');
}

async function runShell(at: string, folder: SnippetFolder, script: string): Promise<string> {
  const child = spawn('bash', ['-e', '-o', 'pipefail', '-c', script], {
    cwd: folder.path,
    env: folder.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: SNIPPET_MS_MAX,
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${at} ended with ${code}:\n${printed}`);
  return printed;
}
