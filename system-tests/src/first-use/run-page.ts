import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EmptyFolder } from './empty-folder.ts';
import type { Block, Page } from './read-pages.ts';

/** Where pages run: beside the folder of `relay start`, with its command and data, and with the clients' packages. */
export interface Reader {
  /** Runs the page from top to bottom; variables that a block exports reach the later ones. Answers the number of blocks run. */
  run(page: Page): Promise<number>;
  remove(): void;
}

const ROOT = join(import.meta.dirname, '../../..');
/** The address on the pages, and the placeholder for the key. */
const SHOWN_URL = 'http://127.0.0.1:8080';
const SHOWN_KEY = 'relay-api-…';

export function createReader(folder: EmptyFolder, url: string, apiToken: string): Reader {
  const path = join(folder.path, 'reader');
  const home = join(path, 'home');
  mkdirSync(home, { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(path, 'node_modules'));
  symlinkSync(join(folder.path, 'relay-data'), join(path, 'relay-data'));
  const command = join(folder.path, 'node_modules/.bin');
  const env = { PATH: `${command}:${process.env['PATH'] ?? ''}`, HOME: home, RELAY_API_TOKEN: apiToken };
  const asHere = (text: string) => text.replaceAll(SHOWN_URL, url).replaceAll(SHOWN_KEY, apiToken);

  async function runShell(at: string, script: string): Promise<string> {
    const { code, stdout, stderr } = await folder.run(`set -eo pipefail\ncd reader\n${script}`, env);
    if (code !== 0) throw new Error(`${at} ended with ${code}:\n${stdout}${stderr}`);
    return (stdout + stderr).replaceAll(url, SHOWN_URL);
  }

  function commandOf(at: string, { language, text }: Block): string {
    if (language !== 'js') return shellCommand(at, asHere(text));
    writeFileSync(join(path, 'snippet.mjs'), asHere(text));
    return 'node snippet.mjs';
  }

  return {
    async run({ name, blocks }) {
      const exported: string[] = [];
      let printed = '';
      let ran = 0;
      for (const block of blocks) {
        const at = `${name}:${block.line}`;
        if (block.mark === 'output') assertPrinted(at, block, printed);
        if (block.mark !== 'run') continue;
        printed = await runShell(at, [...exported, commandOf(at, block)].join('\n'));
        exported.push(
          ...asHere(block.text)
            .split('\n')
            .filter((line) => line.startsWith('export ')),
        );
        ran += 1;
      }
      return ran;
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

function assertPrinted(at: string, block: Block, printed: string): void {
  const missing = block.text.split('\n').filter((line) => !printed.includes(line.trim()));
  if (missing.length > 0) throw new Error(`${at}: not printed: ${missing.join('\n')}\nbut:\n${printed}`);
}

/** The packages are installed with the repository, so `npm install` is compared with its lock file instead. */
function shellCommand(at: string, text: string): string {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'system-tests/package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const lines = text.split('\n');
  const isInstall = (line: string) => line.startsWith('npm install ');
  const installed = lines.filter(isInstall).flatMap((line) => line.split(' ').slice(2));
  const unknown = installed.filter((each) => !(each in manifest.dependencies));
  if (unknown.length > 0) throw new Error(`${at} installs ${unknown.join(', ')}, which CI doesn't have`);
  return lines.filter((line) => !isInstall(line)).join('\n');
}
