import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { routingTableOf } from '../../domain/routing/routing.ts';
import { endpoint, lane, member, provider, snapshot } from '../../domain/snapshot.fixture.ts';
import type { LaneSelection } from '../../domain/snapshot.ts';
import { AskedRequest } from '../../protocols/asked-request.ts';
import { protocols } from '../../protocols/index.ts';
import type { AttemptRecord, Exchange, ExchangeDecisions } from '../exchange.ts';
import { decisionTrace } from './decision-trace.ts';

/** A route of this many endpoints, e0 first, of which those given were tried, in that order. */
function trace(
  members: number,
  tried: readonly string[],
  decisions: Partial<ExchangeDecisions> = {},
  selection: LaneSelection = 'preferred',
) {
  const ids = Array.from({ length: members }, (_, index) => `e${index}`);
  const organization = snapshot({
    providers: [provider('p')],
    endpoints: ids.map((id) => endpoint(id, 'p', 'm', { supportsStreaming: id !== 'e9' })),
    lanes: [lane('l', { selection })],
    memberships: ids.map((id, index) => member('l', id, index)),
  });
  const attempts = tried.map((endpointId) => ({ endpointId, waitMs: 7 }) as AttemptRecord);
  return decisionTrace({
    asked: new AskedRequest(protocols.chat, { members: [], settings: {} }, () => ({})),
    streaming: true,
    snapshot: organization,
    caller: { userId: 'anyone', keyPolicies: [] },
    route: routingTableOf(organization).resolve('l') ?? null,
    attempts,
    decisions: { bound: null, awaited: null, refused: null, skipped: [], probed: null, ...decisions },
  } as unknown as Exchange);
}
const verdicts = (lines: ReturnType<typeof trace>) => lines.map(({ verdict }) => verdict);

describe('the decision trace', () => {
  it('says of candidates that were passed over that they had no room, or were free later', () => {
    assert.deepEqual(verdicts(trace(3, ['e1'])), ['limited', 'selected', 'available']);
    assert.deepEqual(verdicts(trace(3, ['e1'], {}, 'soonest')), ['would_wait', 'selected', 'available']);
  });

  it('says of those left after a failed attempt why they were not tried', () => {
    const lines = trace(3, ['e0'], { refused: 'queue_full' });
    assert.deepEqual(verdicts(lines), ['selected', 'limited', 'limited']);
    assert.equal(lines[1]?.reason, 'too many requests from this caller were waiting');
  });

  it('gives the wait of those that were waited for', () => {
    const lines = trace(3, ['e0'], { awaited: { endpointId: 'e2', waitMs: 40 } });
    assert.deepEqual(
      lines.map(({ verdict, waitMs }) => [verdict, waitMs]),
      [
        ['selected', 7],
        ['available', null],
        ['would_wait', 40],
      ],
    );
  });

  it('has at most 20 lines, those that were tried among them', () => {
    const lines = trace(50, ['e30', 'e45']);
    assert.equal(lines.length, 20);
    assert.deepEqual(
      lines.slice(-3).map(({ endpointId, verdict }) => [endpointId, verdict]),
      [
        ['e17', 'limited'],
        ['e30', 'unhealthy'],
        ['e45', 'selected'],
      ],
    );
    assert.equal(lines[9]?.verdict, 'incompatible');
    assert.equal(trace(20, ['e0']).length, 20);
  });
});
