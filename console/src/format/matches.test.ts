import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matches } from './matches.ts';

test('every typed word must occur, in any order and case', () => {
  assert.ok(matches('GPT open', 'OpenAI', 'gpt-5'));
  assert.ok(!matches('gpt claude', 'OpenAI', 'gpt-5'));
});

test('no query matches everything', () => {
  assert.ok(matches('', 'anything', null));
});
