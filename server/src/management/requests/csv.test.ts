import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EntryRow } from '../../store/ledger/log/read-log.ts';
import type { Walk } from '../../store/ledger/log/walk-log.ts';
import { csvOf } from './csv.ts';

const row = (number: number, over: Partial<EntryRow> = {}) =>
  ({
    request_id: `01a1d000-0000-7000-8000-${String(number).padStart(12, '0')}`,
    latency_ms: 1,
    actual_cost_micros: null,
    dispatched_ms: null,
    ttft_ms: null,
    ...over,
  }) as EntryRow;

/** A walk over this many rows, newest first, with some in every step. */
function walkOver(count: number): Walk {
  let left = count;
  return {
    async next(limit) {
      const taken = Math.min(limit, left, 7);
      const rows = Array.from({ length: taken }, (_, index) => row(left - index));
      left -= taken;
      return { rows, belowId: left === 0 ? null : (rows.at(-1)?.request_id ?? ''), cutShort: false };
    },
  };
}

async function recordsOf(walk: Walk, rowsMax?: number): Promise<string[]> {
  let text = '';
  for await (const chunk of csvOf(walk, new AbortController().signal, rowsMax)) text += chunk;
  assert.ok(text.endsWith('\r\n'));
  return text.slice(0, -2).split('\r\n');
}

describe('the log as CSV', () => {
  it('has a head and a record for every request, even when there is none', async () => {
    const records = await recordsOf(walkOver(23));
    assert.equal(records.length, 24);
    assert.match(records[0] ?? '', /^request_id,client_request_id,state,/);
    const fields = new Set(records.map((record) => record.split(',').length));
    assert.equal(fields.size, 1);
    assert.deepEqual((await recordsOf(walkOver(0))).length, 1);
  });

  it('says in its last record that it was cut, and where to go on', async () => {
    const records = await recordsOf(walkOver(23), 20);
    assert.equal(records.length, 22);
    const [said = '', ...empty] = (records.at(-1) ?? '').split(',');
    assert.equal(said, 'truncated after 20 rows; continue with before=01a1d000-0000-7000-8000-000000000004');
    assert.equal(empty.length + 1, (records[0] ?? '').split(',').length);
    assert.ok(empty.every((field) => field === ''));
    assert.ok(records.at(-2)?.startsWith('01a1d000-0000-7000-8000-000000000004,'));
  });

  it('is not cut when it is exactly as long as it may be', async () => {
    const records = await recordsOf(walkOver(20), 20);
    assert.equal(records.length, 21);
    assert.doesNotMatch(records.join(), /truncated/);
  });

  it('stops between two steps when nobody reads it any more', async () => {
    const controller = new AbortController();
    let chunks = 0;
    for await (const _ of csvOf(walkOver(1_000), controller.signal)) {
      chunks += 1;
      if (chunks === 3) controller.abort();
    }
    assert.equal(chunks, 3);
  });
});
