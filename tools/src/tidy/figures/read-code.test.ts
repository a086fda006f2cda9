import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCode } from './read-code.ts';

test('every `as` except `as const` is a cast, also a doubled one', () => {
  const text = [
    'const a = b as string;',
    'const c = b as unknown as never;',
    "const d = ['x'] as const;",
  ].join('\n');
  assert.deepEqual(readCode({ path: 'a.ts', text }).casts, [1, 2, 2]);
  assert.deepEqual(readCode({ path: 'a.tsx', text: 'const a = <b>{c as d}</b>;\n' }).casts, [1]);
});

test('a renaming import and the word in a comment or a text are not casts', () => {
  const text = "import { a as b } from 'c'; // as d\nconst e = 'f as g';\n";
  assert.deepEqual(readCode({ path: 'a.ts', text }).casts, []);
});

test('a function is measured from its first line to its last and named by what holds it', () => {
  const text = [
    'export function a() {',
    '  return 1;',
    '}',
    'const b = () => {',
    '};',
    'const c = { d: () => 1, e() { return 2; } };',
    'class F { constructor() {} }',
    'declare function g(): void;',
  ].join('\n');
  assert.deepEqual(readCode({ path: 'a.ts', text }).functions, [
    { name: 'a', line: 1, lines: 3 },
    { name: 'b', line: 4, lines: 2 },
    { name: 'd', line: 6, lines: 1 },
    { name: 'e', line: 6, lines: 1 },
    { name: 'constructor', line: 7, lines: 1 },
  ]);
});

test('type imports, re-exports and import() count as imports, packages do not', () => {
  const text = [
    "import type { A } from './a.ts';",
    "export * from '../b.ts';",
    "const c = await import('./c.ts');",
    "import fs from 'node:fs';",
  ].join('\n');
  assert.deepEqual(readCode({ path: 'x.ts', text }).imports, ['./a.ts', '../b.ts', './c.ts']);
});
