import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sampleDraft, sampleRecord } from './request-records.fixture.ts';
import { readEntry, type StreamEntry } from './stream-entry.ts';

const ID = '1800000000000-3';
const NOW_MS = 1_800_000_005_000;

function recordsOf(entry: StreamEntry) {
  const { records, unreadable } = readEntry(entry, NOW_MS);
  assert.deepEqual(unreadable, []);
  return records.map(({ record }) => record);
}

describe('an entry of a usage stream', () => {
  it('reads every record of an entry', () => {
    const [first, second] = [sampleRecord(), sampleRecord()];
    const fields = ['r', JSON.stringify(first), 'r', JSON.stringify(second)];
    assert.deepEqual(recordsOf({ id: ID, fields }), [first, second]);
  });

  it('an entry with fields but without a record is set aside, and a deleted one is nothing', () => {
    const { records, unreadable } = readEntry({ id: ID, fields: ['c', '0'] }, NOW_MS);
    assert.deepEqual([records.length, unreadable.map(({ place }) => place)], [0, [0]]);
    assert.deepEqual(readEntry({ id: ID, fields: [] }, NOW_MS), { records: [], unreadable: [] });
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

  it('a request whose gateway died has not lasted longer than until now, however far Redis is ahead', () => {
    const draft = sampleDraft({ arrivedAtMs: NOW_MS - 7_000 });
    const id = `${NOW_MS + 30 * 86_400_000}-0`;
    const [record] = recordsOf({ id, fields: ['x', JSON.stringify(draft), 'c', '0'] });
    assert.equal(record?.latencyMs, 7_000);
  });

  it('reads records and expired drafts of one entry, each draft with its own candidate', () => {
    const [record, first, second, third] = [sampleRecord(), sampleDraft(), sampleDraft(), sampleDraft()];
    const expired = (draft: typeof first, ...candidate: string[]) => [
      'x',
      JSON.stringify(draft),
      ...candidate,
    ];
    const fields = [
      ...expired(first, 'c', '1'),
      ...['r', JSON.stringify(record)],
      ...expired(second),
      ...expired(third, 'c', '0'),
    ];
    const found = recordsOf({ id: ID, fields });
    assert.deepEqual(
      found.map(({ requestId, upstreamModel }) => [requestId, upstreamModel]),
      [
        [first.requestId, 'model-2'],
        [record.requestId, record.upstreamModel],
        [second.requestId, null],
        [third.requestId, 'model-1'],
      ],
    );
  });

  it('sets aside what another version wrote, and reads the others', () => {
    const [record, later] = [sampleRecord(), { ...sampleRecord(), v: 2 }];
    const fields = ['r', JSON.stringify({ ...record, v: 1 }), 'r', JSON.stringify(later), 'r2', '{}'];
    const read = readEntry(
      { id: ID, fields: [...fields, 'x', JSON.stringify({ ...sampleDraft(), v: 2 })] },
      NOW_MS,
    );
    assert.deepEqual(
      read.records.map(({ record: { requestId } }) => requestId),
      [record.requestId],
    );
    assert.deepEqual(
      read.unreadable.map(({ place }) => place),
      [1, 2, 3],
    );
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
      const { records, unreadable } = readEntry({ id: ID, fields }, NOW_MS);
      assert.deepEqual([records.length, unreadable.length], [0, 1], JSON.stringify(fields));
    }
    assert.deepEqual(readEntry({ id: ID, fields: [] }, NOW_MS), { records: [], unreadable: [] });
  });

  it('keeps the records around one that cannot be read', () => {
    const [first, last] = [sampleRecord(), sampleRecord()];
    const fields = ['r', JSON.stringify(first), 'r', '{', 'r', JSON.stringify(last)];
    const { records, unreadable } = readEntry({ id: ID, fields }, NOW_MS);
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
