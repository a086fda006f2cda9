import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { unexcused, unreadFiles } from './imports.ts';

const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 30 });

test('reading every file on disk is accepted, whatever else was read', () => {
  fc.assert(fc.property(names, (onDisk) => unreadFiles(onDisk, [...onDisk, 'node:fs']).length === 0));
});

test('reading all but one file is refused, and the file is named', () => {
  fc.assert(
    fc.property(names, fc.nat(), (onDisk, at) => {
      const missed = onDisk[at % onDisk.length] ?? '';
      const complaints = unreadFiles(
        onDisk,
        onDisk.filter((path) => path !== missed),
      );
      assert.ok(complaints.includes(`not read: ${missed}`));
    }),
  );
});

test('an empty disk is refused', () => {
  assert.equal(unreadFiles([], []).length, 1);
});

test('an exception excuses its imports alone, and one that no import needs is refused', () => {
  const rule = { name: 'store-redis' };
  const found = (from: string, to: string) => ({ rule, from, to });
  const exception = {
    rule: 'store-redis',
    to: 'store/postgres/',
    from: ['store/redis/a.ts'],
    reason: 'a test',
  };
  assert.deepEqual(unexcused([found('store/redis/a.ts', 'store/postgres/b.ts')], [exception]), []);
  const [other, stale] = unexcused([found('store/redis/c.ts', 'store/postgres/b.ts')], [exception]);
  assert.equal(other, 'store-redis: store/redis/c.ts → store/postgres/b.ts');
  assert.match(stale ?? '', /remove the exception/);
});
