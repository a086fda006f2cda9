import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionOf, hostOf, phaseOf } from './guardrail-words.ts';

test('the stages are described, also when there are none', () => {
  const phase = (before: boolean, after: boolean) =>
    phaseOf({ pre_dispatch_enabled: before, post_response_enabled: after });
  assert.deepEqual(
    [phase(true, false), phase(false, true), phase(true, true), phase(false, false)],
    ['Prompts', 'Responses', 'Prompts and responses', 'Nothing'],
  );
});

test('a rule is a condition, with its value as JSON', () => {
  const path = '$.results[*].flagged';
  assert.equal(conditionOf({ path, operator: 'equals', value: false, action: 'allow' }), `${path} is false`);
  assert.equal(
    conditionOf({ path: '$.verdict', operator: 'contains', value: 'un"safe', action: 'block' }),
    '$.verdict contains "un\\"safe"',
  );
  assert.equal(conditionOf({ path, operator: 'exists', action: 'log' }), `${path} exists`);
});

test('a service is named by its host, and an invalid URL is shown in full', () => {
  assert.equal(hostOf('https://api.example.com:8443/v1/check?x=1'), 'api.example.com:8443');
  assert.equal(hostOf('nowhere'), 'nowhere');
});
