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

test('strings, templates and JSX text of code that people see are found, with their line', () => {
  const text =
    "const a = {\n  b: 'Whoever',\n  c: `$" +
    '{a} is no $' +
    '{b}, please`,\n  d: <p title="Anew">we\n  see</p>,\n};\n';
  for (const path of ['console/src/a.tsx', 'cli/src/b.tsx', 'server/src/c/d.tsx', 'contract/src/e.tsx'])
    assert.deepEqual(found(path, text), ['2 "Whoever"', '4 "Anew"', '3 "is no"', '3 "please"', '4 "we"']);
});

test('tests, module names, types and keys of code are not texts', () => {
  const text = "import a from './nobody.ts';\nexport * from './anew.ts';\ntype A = 'somebody';\n";
  assert.deepEqual(found('server/src/a.ts', text), []);
  for (const path of ['server/src/a.test.ts', 'server/src/a.fixture.ts', 'tools/src/a.ts'])
    assert.deepEqual(found(path, "const a = 'nobody';\n"), []);
});

test('documents for users avoid more words than comments', () => {
  assert.deepEqual(found('docs/a.md', 'We simply ask.'), ['1 "simply"', '1 "We"']);
  for (const path of ['docs/adr/0001-a.md', 'server/README.md']) assert.deepEqual(found(path, 'We ask.'), []);
  assert.deepEqual(found('a.ts', '// We simply ask.\n'), []);
});

test('code and quoted code are not prose', () => {
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
