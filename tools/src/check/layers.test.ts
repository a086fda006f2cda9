import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { layerCycles } from './layers.ts';

const modulesOf = (...arrows: readonly (readonly [from: string, to: string])[]) =>
  arrows.map(([source, resolved]) => ({ source, dependencies: [{ resolved }] }));

test('a cycle between a folder and a file of a module is refused, and each import on it is named', () => {
  const found = layerCycles(
    modulesOf(
      ['server/src/store/index.ts', 'server/src/store/keys/a.ts'],
      ['server/src/store/keys/a.ts', 'server/src/store/redis.ts'],
      ['server/src/store/redis.ts', 'server/src/store/keys/b.ts'],
    ),
  );
  assert.deepEqual(found, [
    'layers: server/src/store/keys → server/src/store/redis.ts lies on a cycle',
    'layers: server/src/store/redis.ts → server/src/store/keys lies on a cycle',
  ]);
});

test('each page of the console is a child of its own', () => {
  const pages = modulesOf(
    ['console/src/pages/a/page.tsx', 'console/src/pages/b/page.tsx'],
    ['console/src/pages/b/page.tsx', 'console/src/app/shell.tsx'],
    ['console/src/app/shell.tsx', 'console/src/pages/a/page.tsx'],
  );
  assert.equal(layerCycles(pages).length, 3);
  assert.deepEqual(layerCycles(pages.slice(1)), []);
});

test('imports of tests, and between modules, are free', () => {
  const both = (a: string, b: string) => modulesOf([a, b], [b, a]);
  assert.deepEqual(layerCycles(both('server/src/kit/a.test.ts', 'server/src/kit/b.ts')), []);
  assert.deepEqual(layerCycles(both('server/src/kit/a.ts', 'server/src/store/b.ts')), []);
});

test('imports in one order are accepted, however many; one more that runs back is not', () => {
  const ordered = fc.array(fc.tuple(fc.nat(9), fc.nat(9)).filter(([a, b]) => a < b));
  const path = (at: number) => `cli/src/${'abcdefghij'[at]}.ts`;
  fc.assert(
    fc.property(ordered, (arrows) => {
      const modules = modulesOf(...arrows.map(([a, b]) => [path(a), path(b)] as const));
      assert.deepEqual(layerCycles(modules), []);
      const [from, to] = arrows[0] ?? [0, 0];
      if (arrows.length > 0)
        assert.ok(layerCycles([...modules, ...modulesOf([path(to), path(from)])]).length >= 2);
    }),
  );
});
