import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditEntry } from '@relay/contract';
import {
  actionWords,
  actorName,
  changeLines,
  changesOf,
  kindOf,
  objectName,
  objectPlace,
  rawChangeLines,
} from './entry-words.ts';

function entry(part: Partial<AuditEntry>): AuditEntry {
  return {
    id: '019a0000-0000-7000-8000-000000000000',
    at: '2026-11-15T12:00:00.000Z',
    actor: { type: 'user', id: null, name: 'Ada' },
    action: 'lane.update',
    target_type: 'lane',
    target_id: 'l1',
    before: { name: 'Fast' },
    after: { name: 'Faster' },
    request_id: null,
    ...part,
  };
}
const noName = () => undefined;

test('an action has a label, and an unknown action is shown as in the log', () => {
  assert.equal(actionWords('lane.update', 'lane'), 'Changed lane');
  assert.equal(actionWords('api_key.update', 'api_key'), 'Changed API key');
  assert.equal(actionWords('team_limit_policy.create', 'team_limit_policy'), 'Created team limit');
  assert.equal(actionWords('session.create', 'session'), 'Signed in');
  assert.equal(actionWords('robot.paint', 'robot'), 'robot.paint');
});

test('people and keys are named, and the admin token is not called by the name of the first owner', () => {
  assert.equal(actorName({ type: 'user', id: 'u1', name: 'Ada' }), 'Ada');
  assert.equal(actorName({ type: 'api_key', id: 'k1', name: null }), 'Deleted key');
  assert.equal(actorName({ type: 'admin_token', id: 'u1', name: 'Ada' }), 'Admin token');
});

test('an object has its newest name, and a relation the names of both sides', () => {
  assert.equal(objectName(entry({}), noName), 'Faster');
  const joined = entry({ target_type: 'lane_membership', after: { lane_id: 'l1', endpoint_id: 'e1' } });
  assert.equal(
    objectName(joined, (id) => ({ l1: 'Fast', e1: 'Mini' })[id]),
    'Fast › Mini',
  );
  const limit = { metric: 'spend', period: 'month', limit_value: 50_000_000, api_key_id: 'k1' };
  assert.equal(
    objectName(entry({ target_type: 'api_key_limit_policy', after: limit }), (id) => ({ k1: 'App' })[id]),
    'App › $50.00 per month',
  );
  assert.equal(objectName(entry({ target_type: 'session' }), noName), null);
});

test('a change has the words and units of the forms; the API’s stay readable', () => {
  const lane = entry({ before: { default_max_wait_ms: 300 }, after: { default_max_wait_ms: 5_000 } });
  assert.deepEqual(changeLines(lane, noName), ['Wait budget 300 ms → 5 s']);
  assert.deepEqual(rawChangeLines(lane), ['default_max_wait_ms 300 → 5000']);
  const changed = (metric: string) =>
    changeLines(
      entry({
        target_type: 'limit_policy',
        before: { metric, limit_value: 26_100_000 },
        after: { metric, limit_value: 40_000_000 },
      }),
      noName,
    );
  assert.deepEqual(changed('spend'), ['Limit $26.10 → $40.00']);
  assert.deepEqual(changed('tokens'), ['Limit 26,100,000 → 40,000,000']);
  const credential = entry({
    target_type: 'credential',
    before: { secret_version: 1 },
    after: { secret_version: 2 },
  });
  assert.deepEqual(changeLines(credential, noName), ['Credential replaced']);
  assert.deepEqual(changesOf(credential, noName), [
    { field: 'secret_version', label: 'Credential', before: undefined, after: 'replaced' },
  ]);
  const unknown = entry({ before: { paint: 1 }, after: { paint: 2 } });
  assert.deepEqual(changeLines(unknown, noName), ['paint 1 → 2']);
});

test('a deleted object has no link', () => {
  assert.equal(objectPlace(entry({}))?.path, '/lanes/l1');
  assert.equal(objectPlace(entry({ target_type: 'team', target_id: 't1' }))?.path, '/teams');
  assert.equal(objectPlace(entry({ target_type: 'team_limit_policy' }))?.path, '/limits');
  assert.equal(objectPlace(entry({ target_type: 'api_key', target_id: 'k1' }))?.open, 'k1');
  const gone = entry({ action: 'lane.delete', after: null });
  assert.equal(kindOf(gone), 'delete');
  assert.equal(objectPlace(gone), null);
  const price = entry({ target_type: 'pricing_policy', after: { endpoint_id: 'e1' } });
  assert.deepEqual(objectPlace(price), { page: '/endpoints', path: '/endpoints', open: 'e1' });
});
