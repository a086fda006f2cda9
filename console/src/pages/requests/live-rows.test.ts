import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestLogEntry } from '@relay/contract';
import fc from 'fast-check';
import { addRows, noLiveRows, notListed, releaseRows } from './live-rows.ts';

const entry = (id: number) => ({ request_id: String(id).padStart(6, '0') }) as RequestLogEntry;
const newestFirst = (ids: readonly number[]) => ids.toSorted((a, b) => b - a).map(entry);
const idsOf = (rows: readonly RequestLogEntry[]) => rows.map(({ request_id: id }) => Number(id));

test('rows of the stream and of the list are shown once when they overlap', () => {
  const ids = fc.uniqueArray(fc.nat({ max: 400 }), { maxLength: 60 });
  fc.assert(
    fc.property(ids, ids, fc.boolean(), (told, read, isHolding) => {
      const listed = newestFirst(read);
      const live = releaseRows(
        addRows(addRows(noLiveRows, told.map(entry), isHolding), told.map(entry), false),
      );
      const shown = [...notListed(live.shown, listed, true), ...listed];
      assert.deepEqual(new Set(idsOf(shown)), new Set([...told, ...read]));
      assert.equal(shown.length, new Set(idsOf(shown)).size);
    }),
  );
});

test('rows below the last loaded row come with later pages', () => {
  const listed = newestFirst([10, 20, 30]);
  const told = newestFirst([5, 15, 35]);
  assert.deepEqual(idsOf(notListed(told, listed, false)), [35, 15]);
  assert.deepEqual(idsOf(notListed(told, listed, true)), [35, 15, 5]);
});

test('memory is bounded, and dropped rows are reported', () => {
  const many = Array.from({ length: 3_000 }, (_, index) => entry(index));
  const shown = addRows(noLiveRows, many, false);
  const held = addRows(noLiveRows, many, true);
  assert.deepEqual([shown.shown.length, shown.isCut, shown.shown[0]?.request_id], [1_000, true, '002999']);
  assert.deepEqual([held.held.length, held.isCut, held.shown.length], [1_000, true, 0]);
});

test('rows that were dropped stay reported when the next rows come', () => {
  const many = Array.from({ length: 1_001 }, (_, index) => entry(index));
  for (const isHolding of [false, true]) {
    const cut = addRows(noLiveRows, many, isHolding);
    assert.equal(addRows(cut, [], isHolding).isCut, true);
    assert.equal(addRows(cut, [entry(2_000)], !isHolding).isCut, true);
    assert.equal(releaseRows(cut).isCut, true);
  }
});

test('new rows are held back while the user is scrolled down', () => {
  const before = addRows(noLiveRows, [entry(1)], false);
  const held = addRows(before, [entry(2), entry(3)], true);
  assert.equal(held.shown, before.shown);
  assert.deepEqual(idsOf(releaseRows(held).shown), [3, 2, 1]);
});
