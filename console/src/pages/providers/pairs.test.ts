import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pairsOf, textOf } from './pairs.ts';

it('reads and writes one pair in each line', () => {
  const pairs = { 'X-Title': 'Relay', 'HTTP-Referer': 'https://relay.example.com' };
  assert.equal(textOf(pairs), 'X-Title: Relay\nHTTP-Referer: https://relay.example.com');
  assert.deepEqual(pairsOf(`\n${textOf(pairs)}\n \n`), pairs);
  assert.deepEqual(pairsOf('flag'), { flag: '' });
});

it('has null for no pairs', () => {
  assert.equal(pairsOf(' \n'), null);
  assert.equal(textOf(null), '');
});
