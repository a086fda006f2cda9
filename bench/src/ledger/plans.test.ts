import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sequentialScans } from './plans.ts';

const scan = (type: string, relation: string, plans: object[] = []) => ({
  'Node Type': type,
  'Relation Name': relation,
  Plans: plans as never[],
});

describe('sequential scans', () => {
  const days = new Set(['requests_20260101', 'requests_20260103']);

  it('are counted at any depth', () => {
    const plan = scan('Limit', '', [
      scan('Append', '', [
        scan('Index Scan', 'requests_20260101'),
        scan('Nested Loop', '', [scan('Seq Scan', 'requests_20260101')]),
      ]),
    ]);
    assert.equal(sequentialScans([plan, scan('Seq Scan', 'requests_20260103')], days), 2);
  });

  it('of other tables, and of days without rows, are none of the ledger', () => {
    const others = ['providers', 'request_rollups_day', 'requests_20260102'];
    assert.equal(
      sequentialScans(
        others.map((name) => scan('Seq Scan', name)),
        days,
      ),
      0,
    );
  });
});
