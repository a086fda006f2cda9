import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentCommands } from './document-commands.ts';
import { treeOf } from './tree.ts';

const code = {
  'package.json': '{"scripts": {"check": "x"}}',
  'cli/src/program.ts': "program.command('serve'); const m = program.command('migrate'); m.command('up');",
};

test('scripts and commands that exist are accepted', () => {
  const text = '`npm run check -- --only=tidy` `relay serve --role all` `npx relay migrate up` `relay`';
  assert.deepEqual(documentCommands(treeOf({ ...code, 'README.md': text })), []);
});

test('a script that is gone is refused', () => {
  assert.equal(documentCommands(treeOf({ ...code, 'README.md': '`npm run gone`' })).length, 1);
});

test('a relay command that is gone is refused, inline and in a block', () => {
  const text = '`relay start`\n```sh\nA=b npx relay migrate down --now\n```';
  const found = documentCommands(treeOf({ ...code, 'README.md': text }));
  assert.deepEqual(
    found.map(({ line }) => line),
    [1, 3],
  );
});
