import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AdmissionAsk } from '../admission/engine.ts';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import { createLimitHeadroom } from './limit-headroom.ts';

function limit(id: string, over: Partial<AppliedLimit> = {}): AppliedLimit {
  const counts = { userId: null, keyId: null, scopeType: 'global', scopeId: null } as const;
  return { id, metric: 'requests', period: 'minute', limit: 100, counts, ...over };
}

function setUp() {
  const time = { ms: 0 };
  const headroom = createLimitHeadroom({ nowMs: () => 0, monotonicMs: () => time.ms });
  const admitted = (policy: AppliedLimit, used: number, resetMs = 60_000) => {
    const candidates = [{ endpointId: 'e', paced: false, charges: [{ policy, cost: 1 }] }];
    const windows = [{ policyId: policy.id, used, resetMs }];
    headroom.note({ candidates } as unknown as AdmissionAsk, {
      kind: 'admitted',
      candidate: 0,
      windows,
      agoMs: 0,
    });
  };
  return { time, headroom, admitted };
}

describe('limit headroom', () => {
  it('tells what is left of the tightest limits, and not of those of keys and members', () => {
    const { headroom, admitted } = setUp();
    const counts = { userId: null, scopeType: 'global', scopeId: null } as const;
    admitted(limit('loose@lane'), 10);
    admitted(limit('tight#2'), 90);
    admitted(limit('of-a-key', { counts: { ...counts, keyId: 'k' } }), 99);
    assert.deepEqual(
      headroom.tightest().map(([{ policy }, left]) => [policy, Number(left.toFixed(2))]),
      [
        ['tight', 0.1],
        ['loose', 0.9],
      ],
    );
    assert.deepEqual(
      headroom.lowest().map(([{ kind }, left]) => [kind, Number(left.toFixed(2))]),
      [
        ['resource', 0.1],
        ['api_key', 0.01],
      ],
    );
  });

  it('is forgotten when the window has ended', () => {
    const { headroom, admitted, time } = setUp();
    admitted(limit('a'), 50, 1_000);
    assert.equal(headroom.tightest().length, 1);
    time.ms = 1_001;
    assert.deepEqual(headroom.tightest(), []);
    assert.deepEqual(headroom.lowest(), []);
  });

  it('is 0 for a limit that makes requests wait or rejects them', () => {
    const { headroom } = setUp();
    const policy = limit('full');
    const candidates = [{ endpointId: 'e', paced: false, charges: [{ policy, cost: 1 }] }];
    const ask = { candidates } as unknown as AdmissionAsk;
    headroom.note(ask, { kind: 'wait', candidate: 0, withinMs: 500, firm: true, policyId: 'full' });
    assert.deepEqual(headroom.tightest(), [[{ policy: 'full', metric: 'requests', period: 'minute' }, 0]]);
  });

  it('has a bounded number of series and of limits in memory', () => {
    const { headroom, admitted } = setUp();
    for (let index = 0; index < 20_000; index += 1) admitted(limit(`p${index}`), index % 100);
    const shown = headroom.tightest();
    assert.equal(shown.length, 50);
    assert.ok(shown.every(([, left]) => left < 0.02));
  });
});
