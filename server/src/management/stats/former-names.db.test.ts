import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import { addOneOfEach, type ManagementFixture, startManagement } from '../fixture.ts';
import { idAt, recordRequests } from '../requests/ledger.fixture.ts';

const NOW_MS = Date.parse('2026-11-16T12:00:00.000Z');

let database: FreshDatabase;
let room: ManagementFixture;
/** Every name in an answer, with the field that has it. */
function* namesIn(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [field, item] of Object.entries(value)) {
    if (typeof item === 'string' && /(name|label|model)$/.test(field)) yield `${field}: ${item}`;
    yield* namesIn(item);
  }
}

/** By what was asked. */
async function history(): Promise<Readonly<Record<string, readonly string[]>>> {
  const range = { from: '2026-11-16T00:00:00.000Z', to: '2026-11-17T00:00:00.000Z' };
  const found: Record<string, readonly string[]> = {};
  const note = (asked: string, answer: unknown) => {
    found[asked] = [...namesIn(answer)].sort();
    assert.ok(found[asked].length > 0, asked);
  };
  for (const group_by of ['team', 'model']) {
    const { body } = await room.call('getShowback', room.acme, { query: { ...range, group_by } });
    note(`showback by ${group_by}`, body);
  }
  for (const group_by of ['lane', 'endpoint', 'provider', 'model'] as const) {
    const query = { ...range, metric: 'requests', group_by, bucket: 'day' } as const;
    note(`series by ${group_by}`, (await room.call('getTimeseries', room.acme, { query })).body);
  }
  note('metered', (await room.call('getMeteredUsage', room.acme, { query: range })).body);
  const { body } = await room.call('exportShowback', room.acme, { query: { ...range, format: 'focus' } });
  const chunks: string[] = [];
  for await (const chunk of (body as { chunks: AsyncIterable<string> }).chunks) chunks.push(chunk);
  note('FOCUS', { name: chunks.join('') });
  return found;
}

describe('history', () => {
  before(async () => {
    database = await freshDatabase();
    const clock = { nowMs: () => NOW_MS, monotonicMs: () => NOW_MS };
    room = await startManagement(database.url, { clock });
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  it('names what was deleted as it did before', async () => {
    const { endpoint, provider, lane, membership } = await addOneOfEach(room, room.acme, 'One');
    const { body: team } = await room.call('createTeam', room.acme, { body: { name: 'Search' } });
    await recordRequests(room.db, [
      sampleRow({
        request_id: idAt(NOW_MS - 3_600_000, 0),
        organization_id: room.acme.organizationId,
        user_id: room.acme.userId,
        endpoint_id: endpoint.id,
        provider_id: provider.id,
        lane_id: lane.id,
        team_id: team.id,
        usage_source: 'reported',
        actual_cost_micros: 700,
      }),
    ]);
    const named = await history();
    for (const [route, { id }] of [
      ['deleteMembership', membership],
      ['deleteLane', lane],
      ['deleteEndpoint', endpoint],
      ['deleteProvider', provider],
      ['deleteTeam', team],
    ] as const)
      await room.call(route, room.acme, { id });
    assert.deepEqual(await history(), named);
  });
});
