import assert from 'node:assert/strict';
import { test } from 'node:test';
import { homeText } from '../../text/home.ts';
import { incompleteWords } from './incomplete.ts';

const NOW_MS = Date.parse('2026-03-01T12:00:00Z');
const words = (until: string | null | undefined) => incompleteWords(until, NOW_MS, homeText.incomplete);

test('Home says since when requests are missing, once the ledger is more than a minute behind', () => {
  assert.equal(words('2026-03-01T11:59:30Z'), null);
  assert.match(words('2026-03-01T11:55:00Z') ?? '', /last 5 min are missing/);
});

test('Home says that it does not know how complete the figures are, instead of nothing', () => {
  assert.match(words(null) ?? '', /does not know/);
  assert.equal(words(undefined), null, 'nothing is loaded yet');
});
