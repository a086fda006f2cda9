import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RouteQuery } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import { type ManagementFixture, startManagement } from '../fixture.ts';
import { idAt, recordRequests } from './ledger.fixture.ts';

const STATES = ['completed', 'failed', 'cancelled'] as const;

describe('the request log by what requests did', () => {
  const arrivedMs = Date.now() - 60_000;
  let database: FreshDatabase;
  let room: ManagementFixture;
  let rows: LedgerRow[];

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
    // Every state with and without a wait and a fallback.
    rows = Array.from({ length: 12 }, (_, number) =>
      sampleRow({
        request_id: idAt(arrivedMs, number),
        organization_id: room.acme.organizationId,
        user_id: room.acme.userId,
        state: STATES[number % 3] ?? 'completed',
        wait_ms: number % 2 === 0 ? 0 : number,
        fallback_count: number < 6 ? 0 : number - 5,
      }),
    );
    await recordRequests(room.db, rows);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const found = async (query: RouteQuery<'listRequests'>) => {
    const { body } = await room.call('listRequests', room.acme, { query });
    return body.data.map(({ request_id }) => request_id);
  };
  const idsOf = (does: (row: LedgerRow) => boolean) =>
    rows
      .filter(does)
      .map(({ request_id }) => request_id)
      .reverse();

  it('waited and fell_back list the requests that did, in any state, or the others', async () => {
    const hasWaited = ({ wait_ms }: LedgerRow) => wait_ms > 0;
    const hasFallenBack = ({ fallback_count }: LedgerRow) => fallback_count > 0;
    assert.deepEqual(await found({ waited: true }), idsOf(hasWaited));
    assert.deepEqual(
      await found({ waited: false }),
      idsOf((row) => !hasWaited(row)),
    );
    assert.deepEqual(await found({ fell_back: true }), idsOf(hasFallenBack));
    assert.deepEqual(
      await found({ fell_back: false }),
      idsOf((row) => !hasFallenBack(row)),
    );
    assert.deepEqual(
      await found({ waited: true, fell_back: true, state: 'failed' }),
      idsOf((row) => hasWaited(row) && hasFallenBack(row) && row.state === 'failed'),
    );
  });

  it('completed requests that waited are as many as the statistics count', async () => {
    const query = { metric: 'requests', group_by: 'service', bucket: 'hour' } as const;
    const { body } = await room.call('getTimeseries', room.acme, {
      query: { ...query, from: new Date(arrivedMs - 3_600_000).toISOString() },
    });
    const points = body.series.find(({ key }) => key === 'waited')?.points ?? [];
    const counted = points.reduce((sum, { value }) => sum + (value ?? 0), 0);
    assert.ok(counted > 0);
    assert.equal((await found({ waited: true, state: 'completed' })).length, counted);
  });
});
