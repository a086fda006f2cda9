import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { buildConsole } from './build-console.ts';

describe('building the console only when it changed', () => {
  const root = mkdtempSync(join(tmpdir(), 'relay-console-'));
  after(() => rmSync(root, { recursive: true }));

  const build = 'mkdir -p console/dist && echo built > console/dist/index.html && echo >> builds';
  for (const folder of ['console/src', 'contract/src']) mkdirSync(join(root, folder), { recursive: true });
  for (const file of [
    'contract/package.json',
    'contract/src/a.ts',
    'console/src/a.ts',
    'package-lock.json',
    'builds',
  ])
    writeFileSync(join(root, file), '');
  writeFileSync(join(root, 'package.json'), JSON.stringify({ scripts: { 'build:console': build } }));

  function buildsAfterCall(): number {
    buildConsole(root);
    return readFileSync(join(root, 'builds'), 'utf8').length;
  }

  it('the console is built when its files, those of the contract or its packages changed, and not otherwise', () => {
    assert.equal(buildsAfterCall(), 1);
    assert.equal(buildsAfterCall(), 1);
    writeFileSync(join(root, 'console/src/a.ts'), 'changed');
    assert.equal(buildsAfterCall(), 2);
    writeFileSync(join(root, 'contract/src/b.ts'), '');
    assert.equal(buildsAfterCall(), 3);
    writeFileSync(join(root, 'package-lock.json'), '{}');
    assert.equal(buildsAfterCall(), 4);
    assert.equal(buildsAfterCall(), 4);
  });

  it('a build that left no record is not trusted', () => {
    writeFileSync(join(root, 'console/dist/index.html'), 'of other files');
    assert.equal(buildsAfterCall(), 5);
    rmSync(join(root, 'console/dist'), { recursive: true });
    assert.equal(buildsAfterCall(), 6);
  });
});
