import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { MeteredUsage } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { createRandom } from '@relay/testbed/random';
import type { Caller } from '../../domain/caller.ts';
import { exactUsd } from '../../domain/money/money.ts';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import { sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import { addMember, addOneOfEach, type ManagementFixture, startManagement } from '../fixture.ts';
import { idAt, recordRequests } from '../requests/ledger.fixture.ts';
import { focusCsv } from './focus.ts';

const SIZE_MS = { hour: 3_600_000, day: 86_400_000 } as const;

describe('what was metered for a bill', () => {
  const nowMs = Date.now();
  let database: FreshDatabase;
  let room: ManagementFixture;
  let developer: Caller;
  let rows: LedgerRow[];
  const models = new Map<string, string>();

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
    developer = await addMember(room, room.acme, 'developer');
    for (const name of ['One', 'Two']) {
      const { endpoint } = await addOneOfEach(room, room.acme, name);
      models.set(endpoint.id, endpoint.upstream_model);
    }
    rows = generated();
    await recordRequests(room.db, rows);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  function generated(): LedgerRow[] {
    const random = createRandom(17).next;
    const upTo = (most: number) => Math.floor(random() * most);
    const ids = [...models.keys(), idAt(nowMs, 9_999), null];
    return Array.from({ length: 500 }, (_, number) => {
      const isMetered = random() < 0.8;
      return sampleRow({
        request_id: idAt(nowMs - upTo(2 * SIZE_MS.day), number),
        organization_id: number % 6 === 0 ? room.globex.organizationId : room.acme.organizationId,
        user_id: number % 3 === 0 ? developer.userId : room.acme.userId,
        endpoint_id: ids[number % ids.length] ?? null,
        usage_source: isMetered ? 'reported' : 'none',
        actual_input_tokens: isMetered ? upTo(9_000) : null,
        actual_cached_input_tokens: isMetered ? upTo(900) : null,
        actual_output_tokens: isMetered ? upTo(2_000) : null,
        actual_cost_micros: isMetered ? 1 + upTo(1_000_000) : null,
        actual_cost_rounding_picos: isMetered ? upTo(999_999) : 0,
      });
    });
  }

  async function read(caller: Caller, bucket: 'hour' | 'day'): Promise<MeteredUsage> {
    const query = {
      bucket,
      from: new Date(nowMs - 3 * SIZE_MS.day).toISOString(),
      to: new Date(nowMs).toISOString(),
    };
    return (await room.call('getMeteredUsage', caller, { query })).body;
  }

  function expected(bucket: 'hour' | 'day', own: readonly LedgerRow[]) {
    const startOf = (id: string) =>
      new Date(Math.floor(uuidTimeMs(id) / SIZE_MS[bucket]) * SIZE_MS[bucket]).toISOString();
    const answered = own.filter(({ endpoint_id }) => endpoint_id !== null);
    const groups = Map.groupBy(answered, (row) => `${startOf(row.request_id)} ${row.endpoint_id}`);
    return new Map(
      [...groups].map(([key, of]) => {
        const metered = of.filter(({ usage_source }) => usage_source !== 'none');
        const sum = (value: (row: LedgerRow) => number | null) =>
          metered.reduce((all, row) => all + (value(row) ?? 0), 0);
        const picos = metered.reduce(
          (all, row) =>
            all + BigInt(row.actual_cost_micros ?? 0) * 1_000_000n - BigInt(row.actual_cost_rounding_picos),
          0n,
        );
        const sums = {
          requests: metered.length,
          input_tokens: sum((row) => row.actual_input_tokens),
          cached_input_tokens: sum((row) => row.actual_cached_input_tokens),
          output_tokens: sum((row) => row.actual_output_tokens),
          cost_usd: exactUsd(picos),
          upstream_model: models.get(of[0]?.endpoint_id ?? '') ?? null,
        };
        return [key, sums];
      }),
    );
  }

  function compare({ rows: found }: MeteredUsage, wanted: ReturnType<typeof expected>): void {
    const seen = found.map((row) => {
      const { requests, input_tokens, cached_input_tokens, output_tokens, cost_usd, upstream_model } = row;
      const sums = { requests, input_tokens, cached_input_tokens, output_tokens, cost_usd, upstream_model };
      return [`${row.at} ${row.endpoint_id}`, sums] as const;
    });
    assert.deepEqual(new Map(seen), wanted);
  }

  const ofAcme = () => rows.filter(({ organization_id }) => organization_id === room.acme.organizationId);

  for (const bucket of ['hour', 'day'] as const)
    it(`is what counting every answered request gives, by ${bucket} and endpoint, exactly`, async () => {
      compare(await read(room.acme, bucket), expected(bucket, ofAcme()));
    });

  it('is a developer’s own where that is all they may see', async () => {
    const own = ofAcme().filter(({ user_id }) => user_id === developer.userId);
    compare(await read(developer, 'day'), expected('day', own));
  });

  it('has in FOCUS the account’s name, a provider on every line, and a type for each resource', async () => {
    const endMs = Math.ceil(nowMs / SIZE_MS.day) * SIZE_MS.day;
    const range = { bucket: 'day', fromMs: endMs - 4 * SIZE_MS.day, toMs: endMs } as const;
    const { name } = await room.db
      .selectFrom('organizations')
      .select('name')
      .where('id', '=', room.acme.organizationId)
      .executeTakeFirstOrThrow();
    let csv = '';
    for await (const chunk of focusCsv(room.db, room.acme.organizationId, range)) csv += chunk;
    const [head = '', ...lines] = csv.trim().split('\r\n');
    const columns = head.split(',');
    const found = lines.map((line) => {
      const cells = line.split(',');
      return (column: string) => cells[columns.indexOf(column)] ?? '';
    });
    assert.ok(found.length > 0);
    for (const cell of found) {
      assert.equal(cell('BillingAccountName'), name);
      for (const column of ['ProviderName', 'PublisherName', 'InvoiceIssuerName'])
        assert.notEqual(cell(column), '', column);
      assert.equal(cell('ResourceType'), cell('ResourceId') === '' ? '' : 'Model endpoint');
    }
    const nowhere = found.filter((cell) => cell('ResourceId') === '' && cell('ProviderName') === 'Relay');
    assert.ok(nowhere.length > 0);
  });
});
