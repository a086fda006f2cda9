import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { access, appendFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
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
  let written = '';
  let root = '';

  before(async () => {
    written = await mkdtemp(join(tmpdir(), 'relay-generate-'));
    assert.equal((await run(written)).code, 0);
  });

  after(() => rm(written, { recursive: true }));

  // Writing everything takes seconds; a copy of it takes none.
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'relay-generate-'));
    await cp(written, root, { recursive: true });
  });

  afterEach(() => rm(root, { recursive: true }));

  it('writes files that its own check accepts', async () => {
    assert.deepEqual(await run(root, '--check'), { code: 0, stderr: '' });
  });

  it('check names a stale file, changes nothing, and writing repairs it', async () => {
    const path = join(root, 'contract/openapi.json');
    await appendFile(path, ' ');
    const before = await readFile(path, 'utf8');
    const { code, stderr } = await run(root, '--check');
    assert.equal(code, 1);
    assert.match(stderr, /^stale: contract\/openapi\.json/);
    assert.equal(await readFile(path, 'utf8'), before);
    assert.equal((await run(root)).code, 0);
    assert.equal((await run(root, '--check')).code, 0);
  });

  it('check names the missing page of an error code', async () => {
    await rm(join(root, 'docs/reference/errors/draining.md'));
    const { code, stderr } = await run(root, '--check');
    assert.equal(code, 1);
    assert.match(stderr, /^missing: docs\/reference\/errors\/draining\.md/);
  });

  it('check names the page of a code that is gone, and writing removes it', async () => {
    const page = join(root, 'docs/reference/errors/bygone.md');
    await writeFile(page, await readFile(join(root, 'docs/reference/errors/draining.md'), 'utf8'));
    const { code, stderr } = await run(root, '--check');
    assert.equal(code, 1);
    assert.match(stderr, /^extra: docs\/reference\/errors\/bygone\.md/);
    assert.equal((await run(root)).code, 0);
    await assert.rejects(access(page));
  });

  it('a hand-written file in a generated folder is named and never removed', async () => {
    const page = join(root, 'docs/reference/notes.md');
    await writeFile(page, '# Notes\n');
    assert.match((await run(root, '--check')).stderr, /^foreign: docs\/reference\/notes\.md/);
    assert.equal((await run(root)).code, 1);
    await access(page);
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
