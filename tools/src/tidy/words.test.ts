import assert from 'node:assert/strict';
import { test } from 'node:test';
import { treeOf } from './tree.ts';
import { bannedWords } from './words.ts';

function found(path: string, text: string): string[] {
  return bannedWords(treeOf({ [path]: text })).map(({ line, message }) => `${line} ${message.split(':')[0]}`);
}

test('banned words are found in comments of every kind, with their line', () => {
  const text = 'const a = 1; // Whoever\n/**\n * is told.\n */\nexport const b = <p>{/* anew */}</p>;\n';
  assert.deepEqual(found('a.tsx', text), ['1 "Whoever"', '5 "anew"', '3 "is told"']);
  assert.deepEqual(found('a.sql', "select 'nobody'; -- nobody\n"), ['1 "nobody"']);
  assert.deepEqual(found('a.lua', '-- goes on\n'), ['1 "goes on"']);
  assert.deepEqual(found('.ci/run', 'x # under way\n'), ['1 "under way"']);
  assert.deepEqual(found('a.css', '/* somebody */\n'), ['1 "somebody"']);
});

test('a phrase that breaks over two lines is found, over a paragraph it is not', () => {
  assert.deepEqual(found('a.ts', '// It is\n// told.\n'), ['1 "is told"']);
  assert.deepEqual(found('a.ts', '/**\n * Whole\n * again.\n */\n'), ['2 "Whole again"']);
  assert.deepEqual(found('a.md', 'It is\n\ntold\n'), []);
});

test('code, texts and quoted code are not prose', () => {
  assert.deepEqual(found('a.ts', "const nobody = 'https://a // whoever at once';\n"), []);
  assert.deepEqual(found('a.tsx', 'const a = <p>// nobody</p>;\n'), []);
  assert.deepEqual(found('a.md', '`nobody`\n```sh\necho somebody\n```\nanew\n'), ['5 "anew"']);
});

test('"is no" is refused before a noun, not in "there is no" and not in a comparison', () => {
  assert.deepEqual(found('a.md', 'A cooldown is no limit.'), ['1 "is no"']);
  assert.deepEqual(found('a.md', 'There is no limit. It is no longer here, and is no more than 3.'), []);
});

test('words that only contain a banned one are accepted', () => {
  assert.deepEqual(found('a.md', 'bytesites, frobites, anewly, at oncet'), []);
});
