import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { access, appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { errorCodes } from '@relay/contract';
import { generatedFiles } from './generated-files.ts';

const script = resolve(import.meta.dirname, '../generate.ts');

interface Outcome {
  code: number;
  stderr: string;
}

function run(root: string, ...flags: string[]): Promise<Outcome> {
  return new Promise((settle) => {
    execFile(process.execPath, [script, '--root', root, ...flags], (error, _stdout, stderr) => {
      settle({ code: typeof error?.code === 'number' ? error.code : 0, stderr });
    });
  });
}

describe('generate', () => {
  const stale = 'contract/openapi.json';
  const missing = 'docs/reference/errors/draining.md';
  const extra = 'docs/reference/errors/bygone.md';
  const foreign = 'docs/reference/notes.md';
  let root = '';
  let checked: Outcome;

  // Each run takes seconds, so one run has every fault, and its output tells them apart.
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'relay-generate-'));
    assert.equal((await run(root)).code, 0);
    const page = await readFile(join(root, missing), 'utf8');
    await appendFile(join(root, stale), ' ');
    await rm(join(root, missing));
    await writeFile(join(root, extra), page);
    await writeFile(join(root, foreign), '# Notes\n');
    checked = await run(root, '--check');
  });

  after(() => rm(root, { recursive: true }));

  it('check names what is stale, missing, extra and foreign', () => {
    assert.equal(checked.code, 1);
    for (const [word, path] of Object.entries({ stale, missing, extra, foreign }))
      assert.match(checked.stderr, new RegExp(`^${word}: ${path}`, 'm'));
  });

  it('check changes nothing', async () => {
    assert.match(await readFile(join(root, stale), 'utf8'), / $/);
    await assert.rejects(access(join(root, missing)));
    await access(join(root, extra));
  });

  it('writing repairs what is generated, and never removes what is not', async () => {
    const rewritten = await run(root);
    assert.equal(rewritten.code, 1);
    assert.match(rewritten.stderr, new RegExp(`^foreign: ${foreign}`, 'm'));
    await access(join(root, missing));
    await assert.rejects(access(join(root, extra)));
    await access(join(root, foreign));
  });

  it('check accepts what was written', async () => {
    await rm(join(root, foreign));
    assert.deepEqual(await run(root, '--check'), { code: 0, stderr: '' });
  });
});

describe('generated files', async () => {
  const files = await generatedFiles();
  const paths = files.map((file) => file.path);

  it('have one page per error code, and no page without a code', () => {
    const pages = paths.filter((path) => /^docs\/reference\/errors\/[^/]+\.md$/.test(path));
    const expected = [...errorCodes, 'README'].map((code) => `docs/reference/errors/${code}.md`);
    assert.deepEqual(pages.toSorted(), expected.toSorted());
  });

  it('are made once each and end in one newline', () => {
    assert.equal(new Set(paths).size, paths.length);
    for (const { path, content } of files) assert.match(content, /[^\n]\n$/, path);
  });
});
