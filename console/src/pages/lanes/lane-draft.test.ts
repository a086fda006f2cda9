import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { changesOf, type LaneDraft, moveMember } from './lane-draft.ts';

const lane: LaneDraft = {
  name: 'Assistant',
  description: '',
  default_max_wait_ms: 5_000,
  allow_fallback: true,
  hold_ms: 2_000,
  selection: 'preferred',
  priority: 'standard',
  hidden: false,
  enabled: true,
  members: ['a', 'b', 'c'].map((endpointId) => ({ endpointId, enabled: true })),
};

test('an unchanged draft has no changes', () => {
  assert.deepEqual(changesOf(lane, { ...lane, members: [...lane.members] }), []);
});

test('a field, an added endpoint, a removed one and a switch are one change each', () => {
  const draft: LaneDraft = {
    ...lane,
    default_max_wait_ms: 2_000,
    members: [
      { endpointId: 'b', enabled: false },
      { endpointId: 'c', enabled: true },
      { endpointId: 'd', enabled: true },
    ],
  };
  assert.deepEqual(changesOf(lane, draft), [
    { kind: 'field', field: 'default_max_wait_ms', from: 5_000, to: 2_000 },
    { kind: 'removed', endpointId: 'a' },
    { kind: 'switched', endpointId: 'b', enabled: false },
    { kind: 'added', endpointId: 'd', place: 3 },
  ]);
});

test('a move lists only endpoints that changed places', () => {
  assert.deepEqual(changesOf(lane, moveMember(lane, 1, 0)), [
    { kind: 'moved', endpointId: 'b', from: 2, to: 1 },
    { kind: 'moved', endpointId: 'a', from: 1, to: 2 },
  ]);
});

test('moving an endpoint there and back is no change', () => {
  fc.assert(
    fc.property(fc.nat({ max: 2 }), fc.nat({ max: 2 }), (from, to) => {
      assert.deepEqual(changesOf(lane, moveMember(moveMember(lane, from, to), to, from)), []);
    }),
  );
});
