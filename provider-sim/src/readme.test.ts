import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { faultNames } from './fault.ts';

it('the README has exactly one row for every fault', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const listed = [...readme.matchAll(/^\| `(\w+)` +\|/gm)].map((match) => match[1]);
  assert.deepEqual(listed.sort(), [...faultNames].sort());
});
