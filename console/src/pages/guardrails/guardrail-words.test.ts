import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionOf, hostOf, phaseOf } from './guardrail-words.ts';

test('when it is asked is said in words, also when that is never', () => {
  const phase = (before: boolean, after: boolean) =>
    phaseOf({ pre_dispatch_enabled: before, post_response_enabled: after });
  assert.deepEqual(
    [phase(true, false), phase(false, true), phase(true, true), phase(false, false)],
    ['Before the provider', 'After the answer', 'Before and after', 'Never'],
  );
});

test('a rule reads as a condition, with its value as JSON where it has one', () => {
  const path = '$.results[*].flagged';
  assert.equal(conditionOf({ path, operator: 'equals', value: false, action: 'allow' }), `${path} is false`);
  assert.equal(
    conditionOf({ path: '$.verdict', operator: 'contains', value: 'un"safe', action: 'block' }),
    '$.verdict contains "un\\"safe"',
  );
  assert.equal(conditionOf({ path, operator: 'exists', action: 'log' }), `${path} exists`);
});

test('a service is known by its host, and an address that is none stays whole', () => {
  assert.equal(hostOf('https://api.example.com:8443/v1/check?x=1'), 'api.example.com:8443');
  assert.equal(hostOf('nowhere'), 'nowhere');
});
