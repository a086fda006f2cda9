import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { RouteQuery } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';

import type { StoredTrace } from '../../store/ledger/ledger-json.ts';
import { sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import { type ManagementFixture, startManagement } from '../fixture.ts';
import { idAt, recordRequests } from './ledger.fixture.ts';

type Verdict = StoredTrace['guardrails'][number]['verdict'];

describe('the request log by what guardrails decided', () => {
  const arrivedMs = Date.now() - 60_000;
  const [first, second] = [randomUUIDv7(), randomUUIDv7()];
  let database: FreshDatabase;
  let room: ManagementFixture;
  let rows: LedgerRow[];

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
    const said: readonly (readonly (readonly [string, Verdict])[])[] = [
      [],
      [[first, 'allowed']],
      [[first, 'blocked']],
      [
        [first, 'allowed'],
        [second, 'blocked'],
      ],
      [
        [first, 'allowed'],
        [first, 'flagged'],
      ],
      [[second, 'unavailable']],
    ];
    rows = said.map((verdicts, number) => rowOf(number, verdicts));
    await recordRequests(room.db, rows);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  function rowOf(number: number, verdicts: readonly (readonly [string, Verdict])[]): LedgerRow {
    const isBlocked = verdicts.some(([, verdict]) => verdict === 'blocked');
    return sampleRow({
      request_id: idAt(arrivedMs, number),
      organization_id: room.acme.organizationId,
      user_id: room.acme.userId,
      ...(isBlocked && { state: 'failed', status: 403, error_code: 'content_policy_violation' }),
      trace:
        verdicts.length === 0
          ? null
          : {
              timings: null,
              candidates: [],
              guardrails: verdicts.map(([guardrail_id, verdict]) => ({
                guardrail_id,
                verdict,
                stage: 'pre_dispatch',
                latency_ms: 5,
              })),
            },
    });
  }

  const found = async (query: RouteQuery<'listRequests'>) => {
    const { body } = await room.call('listRequests', room.acme, { query });
    return body.data.map(({ request_id: id }) => rows.findIndex((row) => row.request_id === id)).reverse();
  };

  it('lists the requests that a guardrail checked, and those with one of its verdicts', async () => {
    assert.deepEqual(await found({ guardrail_id: first }), [1, 2, 3, 4]);
    assert.deepEqual(await found({ guardrail_id: first.toUpperCase() }), [1, 2, 3, 4]);
    assert.deepEqual(await found({ guardrail_id: first, guardrail_verdict: 'blocked' }), [2]);
    assert.deepEqual(await found({ guardrail_id: first, guardrail_verdict: 'flagged' }), [4]);
    assert.deepEqual(await found({ guardrail_id: second, guardrail_verdict: 'blocked' }), [3]);
    assert.deepEqual(await found({ guardrail_id: randomUUIDv7() }), []);
    assert.deepEqual(await found({ guardrail_id: 'no id' }), []);
  });

  it('lists the requests with a verdict of any guardrail, with the other filters', async () => {
    assert.deepEqual(await found({ guardrail_verdict: 'blocked' }), [2, 3]);
    assert.deepEqual(await found({ guardrail_verdict: 'unavailable' }), [5]);
    assert.deepEqual(await found({ guardrail_id: first, state: 'completed' }), [1, 4]);
    assert.deepEqual(await found({ guardrail_verdict: 'blocked', error_code: 'queue_full' }), []);
  });
});
