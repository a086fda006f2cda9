import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type ProviderSilence, watchSilence } from './provider-silence.ts';

describe('the silence of an endpoint', () => {
  let nowMs = 0;
  let silence: ProviderSilence;
  beforeEach(() => {
    nowMs = 0;
    silence = watchSilence({ nowMs: () => nowMs, monotonicMs: () => nowMs });
  });

  it('begins with the first request that waits for a response, and is told from 10 s', () => {
    silence.sent('one');
    nowMs = 5_000;
    silence.sent('one');
    assert.deepEqual(silence.silent(), []);
    nowMs = 12_000;
    assert.deepEqual(silence.silent(), [{ endpointId: 'one', silentMs: 12_000, unanswered: 2 }]);
  });

  it('ends with a response to any of its requests', () => {
    silence.sent('one');
    silence.sent('one');
    nowMs = 60_000;
    silence.answered('one');
    assert.deepEqual(silence.silent(), []);
    nowMs = 75_000;
    assert.deepEqual(silence.silent(), [{ endpointId: 'one', silentMs: 15_000, unanswered: 1 }]);
  });

  it('does not end when the clients leave that wait for it', () => {
    silence.sent('one');
    nowMs = 30_000;
    silence.unanswered('one');
    assert.deepEqual(silence.silent(), []);
    silence.sent('one');
    nowMs = 31_000;
    assert.deepEqual(silence.silent(), [{ endpointId: 'one', silentMs: 31_000, unanswered: 1 }]);
  });

  it('is told of the 50 that are silent longest', () => {
    for (let at = 0; at < 60; at += 1) {
      nowMs = at;
      silence.sent(`endpoint ${at}`);
    }
    nowMs = 20_000;
    const told = silence.silent();
    assert.deepEqual(
      [told.length, told[0]?.endpointId, told.at(-1)?.endpointId],
      [50, 'endpoint 0', 'endpoint 49'],
    );
  });
});
