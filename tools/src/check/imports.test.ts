import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { unreadFiles } from './imports.ts';

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
