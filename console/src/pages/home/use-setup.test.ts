import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeOfChecklist, type SetupStep } from './use-setup.ts';

const step = (name: SetupStep['name'], done: boolean, optional = false): SetupStep => ({
  name,
  path: '/keys',
  done,
  optional,
});

test('the checklist leads until requests flow, and comes last when only optional steps are left', () => {
  const lane = [step('lane', false), step('key', false, true)];
  const key = [step('lane', true), step('key', false, true)];
  assert.equal(placeOfChecklist({ steps: lane, requests: 0 }, false), 'first');
  assert.equal(placeOfChecklist({ steps: lane, requests: 3 }, false), 'first');
  assert.equal(placeOfChecklist({ steps: key, requests: 0 }, false), 'first');
  assert.equal(placeOfChecklist({ steps: key, requests: 3 }, false), 'last');
});

test('the checklist is gone when all is done, and once it was dismissed while requests flow', () => {
  const open = [step('lane', true), step('key', false, true)];
  assert.equal(placeOfChecklist({ steps: [step('lane', true)], requests: 3 }, false), null);
  assert.equal(placeOfChecklist({ steps: open, requests: 3 }, true), null);
  assert.equal(placeOfChecklist({ steps: open, requests: 0 }, true), 'first');
});
