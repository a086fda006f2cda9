import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sampleDraft, sampleRecord } from './request-records.fixture.ts';
import { readEntry, type StreamEntry } from './stream-entry.ts';

const ID = '1800000000000-3';

function recordsOf(entry: StreamEntry) {
  const { records, unreadable } = readEntry(entry);
  assert.deepEqual(unreadable, []);
  return records.map(({ record }) => record);
}

describe('an entry of a usage stream', () => {
  it('reads every record of an entry', () => {
    const [first, second] = [sampleRecord(), sampleRecord()];
    const fields = ['r', JSON.stringify(first), 'r', JSON.stringify(second)];
    assert.deepEqual(recordsOf({ id: ID, fields }), [first, second]);
  });

  it('records a request whose gateway died at its estimate, with the candidate it was sent to', () => {
    const draft = sampleDraft({ arrivedAtMs: 1_799_999_990_000 });
    const [record] = recordsOf({ id: ID, fields: ['x', JSON.stringify(draft), 'c', '0'] });
    const [candidate] = draft.candidates;
    assert.ok(record && candidate);
    assert.equal(record.requestId, draft.requestId);
    assert.equal(record.endpointId, candidate.endpointId);
    assert.equal(record.providerId, candidate.providerId);
    assert.deepEqual([record.state, record.status, record.cause], ['failed', 500, 'gateway_lost']);
    assert.equal(record.usageSource, 'estimated');
    assert.deepEqual([record.actualInputTokens, record.actualOutputTokens], [30, 40]);
    assert.deepEqual([record.estimatedCostMicros, record.actualCostMicros], [700, 700]);
    assert.equal(record.latencyMs, 10_000);
    assert.deepEqual(
      record.attempts.map(({ endpointId, status }) => [endpointId, status]),
      [[candidate.endpointId, null]],
    );
    assert.equal('candidates' in record, false);
  });

  it('leaves the cost of a candidate without a price unknown', () => {
    const [record] = recordsOf({ id: ID, fields: ['x', JSON.stringify(sampleDraft()), 'c', '1'] });
    assert.deepEqual([record?.upstreamModel, record?.actualCostMicros], ['model-2', null]);
  });

  it('reports unreadable values, and returns nothing for a deleted entry', () => {
    for (const fields of [
      ['r', '{'],
      ['r', 'null'],
      ['r', '{}'],
      ['r', JSON.stringify(sampleRecord({ requestId: 'one' }))],
      ['x', JSON.stringify({ requestId: sampleRecord().requestId }), 'c', '0'],
      ['other', 'value'],
    ]) {
      const { records, unreadable } = readEntry({ id: ID, fields });
      assert.deepEqual([records.length, unreadable.length], [0, 1], JSON.stringify(fields));
    }
    assert.deepEqual(readEntry({ id: ID, fields: [] }), { records: [], unreadable: [] });
  });

  it('keeps the records around one that cannot be read', () => {
    const [first, last] = [sampleRecord(), sampleRecord()];
    const fields = ['r', JSON.stringify(first), 'r', '{', 'r', JSON.stringify(last)];
    const { records, unreadable } = readEntry({ id: ID, fields });
    assert.deepEqual(records, [
      { record: first, place: 0 },
      { record: last, place: 2 },
    ]);
    assert.deepEqual(
      unreadable.map(({ place }) => place),
      [1],
    );
  });
});
