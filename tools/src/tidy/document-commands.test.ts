import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CommandNode } from './command-table.ts';
import { documentCommands } from './document-commands.ts';
import { treeOf } from './tree.ts';

const code = {
  'package.json': '{"scripts": {"check": "x", "system": "y"}}',
  'system-tests/src/streams/streams.suite.ts': '',
  'server/src/kit/a.test.ts': "test('a key ends', f);",
};

function command(
  children: Readonly<Record<string, CommandNode>>,
  options: readonly string[] = [],
  takesArguments = false,
): CommandNode {
  return { children: new Map(Object.entries(children)), options: new Set(options), takesArguments };
}
const relay = command({
  serve: command({}, ['--role']),
  migrate: command({ up: command({}, ['-o']), status: command({}) }),
  chat: command({}, [], true),
});

function foundLines(text: string): (number | null)[] {
  return documentCommands(treeOf({ ...code, 'README.md': text }), relay).map(({ line }) => line);
}

test('scripts, suites and commands that exist are accepted', () => {
  const text =
    '`npm run check -- --only=tidy` `npm run system -- streams` `relay serve --role all` `npx relay migrate up -o json | jq --raw` `relay migrate up|status` `relay migrate -o` `relay migrate -o up.json` `relay chat anything` `relay`';
  assert.deepEqual(foundLines(text), []);
});

test('a script, a suite and a test that are gone are refused', () => {
  const named = (name: string) => `\n\`npm test -- kit/ -t "${name}"\``;
  assert.deepEqual(
    foundLines(`\`npm run gone\`\n\`npm run system -- gone\`${named('key ends')}${named('gone')}`),
    [1, 2, 4],
  );
});

test('a relay command that is gone is refused, inline, in a block and after another command', () => {
  assert.deepEqual(
    foundLines('`relay start`\n```sh\nA=b npx relay migrate down --now\ncd x && relay gone\n```'),
    [1, 3, 4],
  );
});

test('an option that is gone is refused, also on a continued line', () => {
  assert.deepEqual(foundLines('`relay serve --rôle`\n```sh\nrelay serve \\\n  --roles all\n```'), [1, 3]);
});

test('each alternative of a word is a call of its own', () => {
  assert.deepEqual(foundLines('`relay migrate up|down`'), [1]);
});
