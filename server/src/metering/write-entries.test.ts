import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { uuidAt } from '../kit/uuid-time.ts';
import { sampleRecord } from './request-records.fixture.ts';
import { readyEntries } from './write-entries.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2026-06-30T12:00:00.000Z');

/** Whether a record gets its row, by the days since its request arrived and since its entry was appended. */
function isWritten({ arrived, appended }: { readonly arrived: number; readonly appended: number }): boolean {
  const record = sampleRecord({ requestId: uuidAt(NOW_MS - arrived * DAY_MS) });
  const entry = { id: `${NOW_MS - appended * DAY_MS}-0`, fields: ['r', JSON.stringify(record)] };
  const { rows, unusable } = readyEntries([{ group: { stream: 's' }, entry }], NOW_MS);
  assert.equal(rows.size + unusable.length, 1);
  return rows.has(record.requestId);
}

describe('the age of a record', () => {
  it('is judged when its entry was appended: no worker for a year loses nothing', () => {
    assert.equal(isWritten({ arrived: 365, appended: 365 }), true);
    assert.equal(isWritten({ arrived: 365, appended: 276 }), true);
    assert.equal(isWritten({ arrived: 365, appended: 270 }), false);
  });

  it('does not depend on the clock of Redis', () => {
    for (const appended of [-500, -3, 3, 500]) assert.equal(isWritten({ arrived: 0, appended }), true);
  });

  it('is never in the future of the ledger, whatever Redis says', () => {
    assert.equal(isWritten({ arrived: -1, appended: 0 }), true);
    for (const appended of [0, -3, -500]) assert.equal(isWritten({ arrived: -3, appended }), false);
  });
});

describe('a record of another deployment', () => {
  const OWN = { deploymentId: 'a' };
  const taken = (record: object) => [
    { group: { stream: 's' }, entry: { id: `${NOW_MS}-0`, fields: ['r', JSON.stringify(record)] } },
  ];

  it('gets no row, and one that says none does, as earlier versions wrote it', () => {
    const record = sampleRecord({ requestId: uuidAt(NOW_MS) });
    const ready = (deploymentId?: string) => readyEntries(taken({ ...record, deploymentId }), NOW_MS, OWN);
    assert.deepEqual([ready().rows.size, ready('a').rows.size, ready('b').rows.size], [1, 1, 0]);
    assert.deepEqual(
      [ready().hasForeign, ready('a').hasForeign, ready('b').hasForeign],
      [false, false, true],
    );
    assert.match(ready('b').unusable[0]?.reason ?? '', /belongs to deployment b/);
  });
});
