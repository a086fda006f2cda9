import assert from 'node:assert/strict';
import { access, appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { errorCodes } from '@relay/contract';
import { runCommand } from '../check/run-command.ts';
import { compareFiles, type Difference, writeFiles } from './compare-files.ts';
import type { GeneratedFile } from './generated-file.ts';
import { generatedFiles } from './generated-files.ts';

describe('generate', () => {
  const planted: readonly Difference[] = [
    { kind: 'stale', path: 'contract/openapi.json' },
    { kind: 'missing', path: 'docs/reference/errors/draining.md' },
    { kind: 'extra', path: 'docs/reference/errors/bygone.md' },
    { kind: 'foreign', path: 'docs/reference/notes.md' },
  ];
  const [stale = '', missing = '', extra = '', foreign = ''] = planted.map(({ path }) => path);
  let root = '';
  let files: readonly GeneratedFile[] = [];

  before(async () => {
    files = await generatedFiles();
    root = await mkdtemp(join(tmpdir(), 'relay-generate-'));
    await writeFiles(root, files, await compareFiles(root, files));
    const page = await readFile(join(root, missing), 'utf8');
    await appendFile(join(root, stale), ' ');
    await rm(join(root, missing));
    await writeFile(join(root, extra), page);
    await writeFile(join(root, foreign), '# Notes\n');
  });

  after(() => rm(root, { recursive: true }));

  it('check names what is stale, missing, extra and foreign, and changes nothing', async () => {
    const script = join(import.meta.dirname, '../generate.ts');
    const { ok, output } = await runCommand(process.execPath, [script, '--root', root, '--check'], root);
    assert.equal(ok, false);
    for (const { kind, path } of planted) assert.match(output, new RegExp(`^${kind}: ${path}`, 'm'));
    assert.equal(output.trim().split('\n').length, planted.length);
    assert.match(await readFile(join(root, stale), 'utf8'), / $/);
    await assert.rejects(access(join(root, missing)));
    await access(join(root, extra));
  });

  it('writing repairs what is generated, and never removes what is not', async () => {
    const left = await writeFiles(root, files, await compareFiles(root, files));
    assert.deepEqual(left, [{ kind: 'foreign', path: foreign }]);
    await access(join(root, missing));
    await assert.rejects(access(join(root, extra)));
    await access(join(root, foreign));
  });

  it('what was written is accepted', async () => {
    await rm(join(root, foreign));
    assert.deepEqual(await compareFiles(root, files), []);
  });

  it('one page per error code is made, and no page without a code', () => {
    const pages = files.flatMap(({ path }) =>
      /^docs\/reference\/errors\/[^/]+\.md$/.test(path) ? path : [],
    );
    const expected = [...errorCodes, 'README'].map((code) => `docs/reference/errors/${code}.md`);
    assert.deepEqual(pages.toSorted(), expected.toSorted());
  });

  it('each file is made once and ends in one newline', () => {
    assert.equal(new Set(files.map(({ path }) => path)).size, files.length);
    for (const { path, content } of files) assert.match(content, /[^\n]\n$/, path);
  });
});
