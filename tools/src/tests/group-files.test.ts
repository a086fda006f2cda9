import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listFiles } from '../check/source-files.ts';
import { groupFiles } from './group-files.ts';
import { ownProcess } from './own-process.ts';

const ROOT = join(import.meta.dirname, '../../..');
const many = (folder: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${folder}/${index}.db.test.ts`);

test('files of a workspace share a process, and those of the server one for each folder', () => {
  const files = [
    'cli/src/x/a.test.ts',
    'server/src/http/a.test.ts',
    'cli/src/b.test.ts',
    'server/src/kit/a.test.ts',
  ];
  assert.deepEqual(groupFiles(files, 'unit'), [
    { folder: 'cli', files: ['cli/src/x/a.test.ts', 'cli/src/b.test.ts'] },
    { folder: 'server/src/http', files: ['server/src/http/a.test.ts'] },
    { folder: 'server/src/kit', files: ['server/src/kit/a.test.ts'] },
  ]);
});

test('a large folder is divided evenly, and no file is lost or runs twice', () => {
  const files = [...many('server/src/management/stats', 25), ...many('server/src/store/redis', 3)];
  const groups = groupFiles(files, 'db');
  assert.deepEqual(
    groups.map(({ files }) => files.length),
    [9, 9, 7, 3],
  );
  assert.deepEqual(
    groups.flatMap((group) => group.files),
    files,
  );
});

test('a file that cannot share a process gets its own, and exists', () => {
  const listed = Object.keys(ownProcess);
  assert.deepEqual(
    groupFiles(listed, 'unit'),
    listed.map((file) => ({ folder: file, files: [file] })),
  );
  assert.deepEqual(
    listed.filter((file) => !existsSync(join(ROOT, file))),
    [],
  );
});

test('no test file has a hook outside a suite, where it would apply to every file of the process', () => {
  // `privateRedis` starts its server in a hook.
  const hook = /^(?:before|after|beforeEach|afterEach)\(|^const \w+ = privateRedis\(/m;
  const files = listFiles(ROOT).filter((path) => path.endsWith('.test.ts') && !path.startsWith('tools/'));
  assert.deepEqual(
    files.filter((path) => hook.test(readFileSync(join(ROOT, path), 'utf8'))),
    [],
  );
});
