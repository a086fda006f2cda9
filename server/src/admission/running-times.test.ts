import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LimitMetric } from '@relay/contract';
import { SOMEBODY } from './ask.fixture.ts';
import type { AdmissionAsk, DeskAnswer } from './engine.ts';
import { createRunningTimes } from './running-times.ts';

const counts = { userId: null, keyId: null, scopeType: 'global', scopeId: null } as const;

function askOf(
  operationId: string,
  metric: LimitMetric = 'concurrency',
  organizationId = 'acme',
): AdmissionAsk {
  const period = metric === 'concurrency' ? 'none' : 'minute';
  return {
    organizationId,
    operationId,
    queue: 'q',
    waitersMax: 10,
    ...SOMEBODY,
    candidates: [
      {
        endpointId: 'e',
        paced: false,
        charges: [{ policy: { id: 'limit', metric, period, limit: 2, counts }, cost: 1 }],
      },
    ],
    selection: 'preferred',
    waitMsMax: 0,
    leaseMs: 1_000,
    draft: '',
  };
}

const admitted: DeskAnswer = { kind: 'admitted', candidate: 0, windows: [], agoMs: 0 };
const inLine: DeskAnswer = {
  kind: 'wait',
  candidate: 0,
  withinMs: 1_000,
  firm: false,
  policyId: 'limit',
};

describe('when a unit of a concurrency limit becomes free', () => {
  it('is a second away while nothing is known', () => {
    assert.equal(createRunningTimes().freeInMs('acme', 'limit', 0), 1_000);
  });

  it('is expected after as long again when no request has ended yet', () => {
    const times = createRunningTimes();
    times.noted(askOf('a'), admitted, 0);
    assert.equal(times.freeInMs('acme', 'limit', 7_000), 7_000);
  });

  it('follows from the mean duration and the age of the oldest', () => {
    const times = createRunningTimes();
    times.noted(askOf('a'), admitted, 0);
    times.ended('a', 10_000);
    times.noted(askOf('b'), admitted, 10_000);
    times.noted(askOf('c'), admitted, 12_000);
    assert.equal(times.freeInMs('acme', 'limit', 13_000), 7_000);
    times.ended('b', 14_000);
    // The mean has moved a fifth of the way to 4 s.
    assert.equal(times.freeInMs('acme', 'limit', 14_000), 6_800);
  });

  it('comes later for each request that is in line', () => {
    const times = createRunningTimes();
    times.noted(askOf('a'), admitted, 0);
    times.ended('a', 10_000);
    times.noted(askOf('b'), admitted, 10_000);
    times.noted(askOf('c'), admitted, 14_000);
    times.noted(askOf('w'), inLine, 15_000);
    assert.equal(times.freeInMs('acme', 'limit', 15_000), 9_000);
    times.noted(askOf('x'), inLine, 15_000);
    assert.equal(times.freeInMs('acme', 'limit', 15_000), 15_000);
    times.ended('w', 15_000);
    times.ended('x', 15_000);
    assert.equal(times.freeInMs('acme', 'limit', 15_000), 5_000);
  });

  it('lies between one second and one minute', () => {
    const times = createRunningTimes();
    times.noted(askOf('a'), admitted, 0);
    assert.equal(times.freeInMs('acme', 'limit', 10), 1_000);
    assert.equal(times.freeInMs('acme', 'limit', 900_000), 60_000);
  });

  it('is learned by each organization for itself, and from concurrency alone', () => {
    const times = createRunningTimes();
    times.noted(askOf('a'), admitted, 0);
    times.noted(askOf('b', 'requests', 'other'), admitted, 0);
    assert.equal(times.freeInMs('other', 'limit', 30_000), 1_000);
  });

  it('is half of the usual time away when other processes hold all units', () => {
    const times = createRunningTimes();
    times.noted(askOf('a'), admitted, 0);
    times.ended('a', 20_000);
    assert.equal(times.freeInMs('acme', 'limit', 20_000), 10_000);
  });

  it('is still known of a busy limit after thousands of others', () => {
    const times = createRunningTimes();
    times.noted(askOf('a'), admitted, 0);
    times.ended('a', 20_000);
    times.noted(askOf('b'), admitted, 20_000);
    for (let index = 0; index < 10_001; index += 1) {
      times.noted(askOf(`of ${index}`, 'concurrency', `organization ${index}`), admitted, 20_000);
      times.ended(`of ${index}`, 21_000);
    }
    assert.equal(times.freeInMs('acme', 'limit', 21_000), 19_000);
  });
});
