import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LiveLane, RequestLogEntry } from '@relay/contract';
import { withLive } from './use-first-request.ts';

const lane = (waiting: number, longest_wait_ms: number, in_flight: number): LiveLane => ({
  lane_id: null,
  waiting,
  waiting_by_priority: { interactive: 0, standard: waiting, batch: 0 },
  longest_wait_ms,
  next_slot_ms: null,
  limited_by: [],
  in_flight,
  fallbacks: 0,
  rejections: 0,
  endpoints: [],
});

describe('the first request of a key', () => {
  it('waits as long as the longest wait, then is in flight', () => {
    const waiting = withLive({ phase: 'due' }, { lanes: [lane(1, 300, 0), lane(2, 1_200, 0)] });
    assert.deepEqual(waiting, { phase: 'waiting', waitMs: 1_200 });
    assert.deepEqual(withLive(waiting, { lanes: [lane(1, 300, 1)] }), { phase: 'inFlight' });
  });

  it('does not go back while its row is on the way, and not after it ended', () => {
    assert.deepEqual(withLive({ phase: 'inFlight' }, { lanes: [] }), { phase: 'inFlight' });
    assert.deepEqual(withLive({ phase: 'due' }, { lanes: [] }), { phase: 'due' });
    const fellBack = { ...lane(0, 0, 0), fallbacks: 1 };
    assert.deepEqual(withLive({ phase: 'inFlight' }, { lanes: [fellBack] }), { phase: 'inFlight' });
    assert.deepEqual(withLive({ phase: 'due' }, { lanes: [fellBack] }), { phase: 'due' });
    const ended = { phase: 'ended', entry: {} as RequestLogEntry } as const;
    assert.equal(withLive(ended, { lanes: [lane(1, 300, 0)] }), ended);
  });
});
