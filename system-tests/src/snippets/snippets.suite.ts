import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { bareEnvironment } from '../harness/bare-environment.ts';
import { reportFigures } from '../harness/figures.ts';
import { RELAY_ENTRY } from '../harness/relay-entry.ts';
import { type LocalRelay, startLocal } from '../harness/start-local.ts';
import { blocksOf, type ClientPage, faultsOf, readPages, readReadme } from './read-pages.ts';
import { runPage, type SnippetFolder } from './run-page.ts';

// The pages in docs/clients, from top to bottom, against `relay start --demo`: what a reader copies works.

const ROOT = join(import.meta.dirname, '../../..');
const pages = readPages();
const figures = { pages: pages.length, run: 0, failed: 0, not_run: 0 };
let relay: LocalRelay;
let folder: SnippetFolder;

before(async () => {
  relay = await startLocal(['--demo'], {});
  const printed = await relay.untilPrinted(/Ctrl\+C/);
  folder = prepareFolder(relay, /relay-api-[\w-]+/.exec(printed)?.[0] ?? '');
});
after(async () => {
  await relay?.stop();
  reportFigures(figures);
});

function prepareFolder({ folder: path, url }: LocalRelay, apiToken: string): SnippetFolder {
  const bin = join(path, 'bin');
  const home = join(path, 'home');
  for (const each of [bin, home]) mkdirSync(each);
  const command = join(bin, 'relay');
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${RELAY_ENTRY}' "$@"\n`);
  chmodSync(command, 0o755);
  symlinkSync(join(ROOT, 'node_modules'), join(path, 'node_modules'));
  const bare = bareEnvironment();
  const manifest = JSON.parse(readFileSync(join(ROOT, 'system-tests/package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return {
    path,
    url,
    apiToken,
    env: { ...bare, PATH: `${bin}:${bare.PATH}`, HOME: home, RELAY_API_TOKEN: apiToken },
    packages: new Set(Object.keys(manifest.dependencies)),
  };
}

describe('marks', () => {
  it('every block of every client page has one that is true', () => {
    assert.ok(pages.length >= 9);
    assert.deepEqual(pages.flatMap(faultsOf), []);
  });

  it('a block without a mark, and one that is silently not run, are faults', () => {
    const faults = (text: string) => faultsOf({ name: 'x.md', blocks: blocksOf(text) }).length;
    assert.equal(faults('Run:\n\n```sh\ntrue\n```\n'), 1);
    assert.equal(faults('Run:\n\n```sh not-run\ntrue\n```\n'), 1);
    assert.equal(faults('Not run:\n\n```sh not-run\ntrue\n```\n'), 0);
  });
});

describe('pages', () => {
  for (const page of pages.filter(({ blocks }) => blocks.length > 0))
    it(`${page.name} works as it is written`, async () => {
      figures.not_run += page.blocks.filter(({ mark }) => mark === 'not-run').length;
      await countRun(page);
    });

  it('the README’s first request works', async () => {
    assert.equal(await countRun(readReadme()), 1);
  });

  it('reached the gateway: requests of every operation completed', async () => {
    const operations = new Set(await completedOperations());
    assert.deepEqual([...operations].sort(), ['chat', 'embeddings', 'messages', 'responses']);
  });
});

async function countRun(page: ClientPage): Promise<number> {
  try {
    const run = await runPage(folder, page);
    figures.run += run;
    return run;
  } catch (error) {
    figures.failed += 1;
    throw error;
  }
}

async function completedOperations(): Promise<string[]> {
  const secrets = readFileSync(join(relay.folder, 'relay-data/secrets.json'), 'utf8');
  const token = /relay-admin-[\w-]+/.exec(secrets)?.[0] ?? '';
  const response = await fetch(`${relay.url}/api/relay/requests?state=completed&limit=100`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { data } = (await response.json()) as { readonly data: readonly { operation: string }[] };
  return data.map(({ operation }) => operation);
}
