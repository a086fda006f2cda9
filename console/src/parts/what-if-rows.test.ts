import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WhatIf, WhatIfFigures } from '@relay/contract';
import {
  comparedWords,
  endpointWords,
  figureRows,
  limitEffect,
  partWords,
  rejectingName,
  replayedParts,
  signed,
} from './what-if-rows.ts';

const FIGURES: WhatIfFigures = {
  served: 80,
  rejected: 20,
  rejections: [],
  waited: 10,
  wait_ms: 5_000,
  wait_ms_p50: 0,
  wait_ms_p95: 4_700,
  wait_ms_rejected: 0,
  fallbacks: 4,
  cost_micros: 88_400_000,
  cost_usd: '88.4',
  unpriced_requests: 0,
};
const PART = { served: 1, rejected: 1, wait_ms: 0, cost_micros: 0, cost_usd: '0', unpriced_requests: 0 };

describe('the figures of a what-if', () => {
  it('are shares of all requests, with the difference in requests', () => {
    const after = { ...FIGURES, served: 100, rejected: 0, wait_ms_p95: 6_400, cost_micros: 97_190_000 };
    const rows = figureRows({ before: FIGURES, after });
    assert.deepEqual(
      rows.map(({ current, edited, difference, tone }) => [current, edited, difference, tone]),
      [
        ['20%', '0%', '−20 requests', 'good'],
        ['10%', '10%', '', 'plain'],
        ['0 s', '0 s', '', 'wait'],
        ['4.7 s', '6.4 s', '+1.7 s', 'wait'],
        ['4%', '4%', '', 'plain'],
        ['$88.40', '$97.19', '+$8.79', 'plain'],
      ],
    );
    assert.deepEqual(rows[0]?.counts, { current: '20 of 100', edited: '0 of 100' });
    assert.equal(rows.at(-1)?.counts, null);
    assert.equal(figureRows({ before: after, after: FIGURES })[0]?.tone, 'bad');
  });

  it('of no requests are zero', () => {
    const none = { ...FIGURES, served: 0, rejected: 0, waited: 0, fallbacks: 0 };
    assert.equal(figureRows({ before: none, after: none })[0]?.current, '0%');
  });
});

describe('a what-if of a lane', () => {
  const part = (requests: number) => ({
    requests,
    summary: '',
    history: FIGURES,
    before: FIGURES,
    after: FIGURES,
    rejecting: [],
  });
  const lane = (id: string, requests: number) => ({ lane_id: id, lane_name: id, ...part(requests) });
  const result: WhatIf = {
    ...part(100),
    from: '',
    to: '',
    left_out: 0,
    cut: null,
    took_ms: 1,
    name_changes: [],
    limit: null,
    lanes: [lane('a', 60), lane('b', 10)],
    keys: [],
    limits: [],
    endpoints: [],
  };

  it('speaks of that lane, and of the others by name', () => {
    const { part: own, otherLanes } = replayedParts(result, 'a');
    assert.deepEqual([own.lane_name, own.requests], ['a', 60]);
    assert.deepEqual(
      otherLanes.map(({ lane_name: name }) => name),
      ['b'],
    );
  });

  it('speaks of all requests where something else is edited', () => {
    const { part: all, otherLanes } = replayedParts(result, undefined);
    assert.deepEqual([all.lane_name, all.requests, otherLanes.length], [undefined, 100, 2]);
  });

  it('speaks of the requests that an edited limit applies to', () => {
    const { part: ofLimit, otherLanes } = replayedParts({ ...result, limit: part(40) }, undefined);
    assert.deepEqual([ofLimit.requests, otherLanes.length], [40, 2]);
  });

  it('tells replayed and recorded rejections in requests, and why they differ', () => {
    const history = { ...FIGURES, rejected: 12 };
    assert.match(
      comparedWords({ before: FIGURES, history }),
      /reject 20 requests in the replay; Relay rejected 12 when they were sent\. A replay knows arrivals, durations and today’s settings only/,
    );
    assert.match(
      comparedWords({ before: FIGURES, history: FIGURES }),
      /as many requests as Relay did.*: 20\./,
    );
  });

  it('names a limit that still rejects by its rule, its owner and its place', () => {
    const limit = {
      policy_id: 'p',
      policy_kind: 'resource',
      subject_id: null,
      scope_type: 'lane',
      scope_id: 'l',
      scope_name: 'Checkout helper',
      metric: 'concurrency',
      period: 'none',
      limit: 1,
      requests: 57,
    } as const;
    assert.equal(rejectingName(limit, String), '1 concurrent request on lane Checkout helper');
    const ofTeam = {
      ...limit,
      policy_kind: 'team',
      subject_id: 'Commerce',
      metric: 'spend',
      period: 'day',
    } as const;
    const anywhere = { scope_type: 'global', scope_id: null, scope_name: null, limit: 60_000 };
    assert.equal(rejectingName({ ...ofTeam, ...anywhere }, String), '$0.06 per day for team Commerce');
  });
});

describe('what a what-if touches', () => {
  it('is said by its first difference', () => {
    assert.equal(partWords({ before: PART, after: { ...PART, rejected: 0 } }), '1 fewer rejection');
    assert.equal(partWords({ before: PART, after: { ...PART, rejected: 4 } }), '3 more rejections');
    assert.equal(partWords({ before: PART, after: { ...PART, wait_ms: 1_700 } }), '+1.7 s waiting');
    assert.equal(partWords({ before: { ...PART, cost_micros: 2_000_000 }, after: PART }), '−$2.00 spend');
    const endpoint = { endpoint_id: 'e', endpoint_name: 'E', before: { ...PART, served: 5 } };
    const after = { ...PART, served: 2, cost_micros: 1_000_000 };
    assert.equal(endpointWords({ ...endpoint, after }), '3 fewer requests');
    assert.equal(endpointWords({ ...endpoint, after: { ...after, served: 5 } }), '+$1.00 spend');
  });

  it('has no amount of requests without a price', () => {
    const unpriced = { cost_micros: null, cost_usd: null, unpriced_requests: 3 };
    assert.equal(
      partWords({ before: { ...PART, cost_micros: 5 }, after: { ...PART, ...unpriced } }),
      'unknown spend',
    );
    const spend = figureRows({ before: FIGURES, after: { ...FIGURES, ...unpriced } }).at(-1);
    assert.deepEqual([spend?.edited, spend?.difference], ['No price', 'unknown']);
  });

  it('names rejections and waits of a limit', () => {
    const limit = {
      policy_id: 'p',
      policy_kind: 'resource',
      scope_type: 'lane',
      scope_id: 'l',
      metric: 'requests',
      period: 'minute',
      limit_before: 6,
      limit_after: 10,
      rejected_before: 4,
      rejected_after: 0,
      waited_before: 0,
      waited_after: 1,
    } as const;
    assert.equal(limitEffect(limit), '4 fewer rejections, 1 more request waits');
    assert.equal(signed(0, String), '');
  });
});
