import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createRandom, testSeed } from '@relay/testbed/random';
import { sql } from 'kysely';
import { GATEWAY_LOST } from '../../../domain/expired-draft.ts';
import { smallestUuidAt } from '../../../kit/uuid-time.ts';
import { type MigratedDatabase, migratedDatabase } from '../../fixtures/migrated-database.fixture.ts';
import { appendRequests } from '../append-requests.ts';
import { ensureLedgerPartitions } from '../ledger-partitions.ts';
import { sampleRow } from '../ledger-row.fixture.ts';
import type { LedgerRow } from '../ledger-row.ts';
import {
  readFocus,
  readShowback,
  readShowbackTotal,
  type ShowbackGroup,
  type ShowbackSums,
} from './read-showback.ts';

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 2, 9);
const RUNS = 6;
const ROWS = 150;

function randomFrom(seed: number): (below: number) => number {
  const random = createRandom(seed);
  return (below) => random.integer(0, below - 1);
}

function randomRows(random: (below: number) => number, organizationId: string): LedgerRow[] {
  const ids = (count: number) => Array.from({ length: count }, () => randomUUIDv7());
  const pools = { users: ids(3), keys: ids(4), teams: ids(3), endpoints: ids(3) };
  const one = (pool: readonly string[]) => pool[random(pool.length)] ?? '';
  const maybe = <T>(value: T): T | null => (random(3) === 0 ? null : value);
  return Array.from({ length: ROWS }, (_, index) => {
    const atMs = START_MS + random(3 * DAY_MS);
    const teamId = maybe(one(pools.teams));
    const cost = random(1_000_000);
    return sampleRow({
      request_id: smallestUuidAt(atMs).slice(0, -12) + index.toString(16).padStart(12, '0'),
      organization_id: organizationId,
      user_id: maybe(one(pools.users)),
      key_id: maybe(one(pools.keys)),
      endpoint_id: maybe(one(pools.endpoints)),
      team_id: teamId,
      parent_team_id: teamId === null ? null : maybe(pools.teams[0] ?? null),
      labels: maybe(random(2) === 0 ? { app: `a${random(3)}` } : { env: 'prod "1"', app: `a${random(2)}` }),
      state: (['completed', 'failed', 'cancelled'] as const)[random(3)] ?? 'completed',
      usage_source: (['reported', 'estimated', 'none'] as const)[random(3)] ?? 'none',
      actual_input_tokens: maybe(random(1_000)),
      actual_output_tokens: maybe(random(1_000)),
      actual_cost_micros: maybe(cost),
      actual_cost_rounding_picos: cost === 0 ? 0 : random(1_000_000),
    });
  });
}

const LEDGER_SUMS = sql`count(*)::bigint as requests,
  count(*) filter (where usage_source <> 'none')::bigint as metered_requests,
  coalesce(sum(coalesce(actual_input_tokens, estimated_input_tokens)) filter (where usage_source <> 'none'), 0)::bigint
    as input_tokens,
  coalesce(sum(coalesce(actual_cached_input_tokens, 0)) filter (where usage_source <> 'none'), 0)::bigint
    as cached_input_tokens,
  coalesce(sum(coalesce(actual_output_tokens, estimated_output_tokens)) filter (where usage_source <> 'none'), 0)::bigint
    as output_tokens,
  coalesce(sum(coalesce(actual_cost_micros, estimated_cost_micros)::numeric * 1000000 - actual_cost_rounding_picos)
    filter (where usage_source <> 'none'), 0)::text as cost_picos`;

/** Without what the ledger's rows do not tell: whether their endpoint has a price. */
function ledgerSums<Sums extends ShowbackSums>({ unpriced_requests, priced_attempts, ...sums }: Sums) {
  return sums;
}

describe('showback', () => {
  let migrated: MigratedDatabase;
  before(async () => {
    migrated = await migratedDatabase();
    await ensureLedgerPartitions(migrated.db, '2026-03-08', '2026-03-12');
  });
  after(() => migrated.drop());

  const groups: readonly [ShowbackGroup, string][] = [
    [{ by: 'team' }, 'team_id::text'],
    [{ by: 'key' }, 'key_id::text'],
    [{ by: 'member' }, 'user_id::text'],
    [{ by: 'model' }, 'endpoint_id::text'],
    [{ by: 'label', name: 'app' }, `labels ->> 'app'`],
    [{ by: 'label', name: 'env' }, `labels ->> 'env'`],
  ];
  const range = { bucket: 'day', fromMs: START_MS, toMs: START_MS + 2 * DAY_MS } as const;
  const inLedger = (organizationId: string) => sql`from requests where organization_id = ${organizationId}
    and request_id >= ${smallestUuidAt(range.fromMs)}::uuid and request_id < ${smallestUuidAt(range.toMs)}::uuid`;
  const sorted = (rows: readonly { readonly key: string | null }[]) =>
    rows.toSorted((one, other) => String(one.key).localeCompare(String(other.key)));

  async function demandLedger(organizationId: string, seed: number): Promise<void> {
    for (const [group, column] of groups) {
      const shown = await readShowback(migrated.db, organizationId, range, group, 100);
      const { rows } = await sql<{ key: string | null }>`
        select ${sql.raw(column)} as key, ${LEDGER_SUMS} ${inLedger(organizationId)} group by 1`.execute(
        migrated.db,
      );
      assert.deepEqual(sorted(shown.map(ledgerSums)), sorted(rows), `${column}, seed ${seed}`);
    }
    const total = await readShowbackTotal(migrated.db, organizationId, range);
    const { rows } = await sql`select ${LEDGER_SUMS} ${inLedger(organizationId)}`.execute(migrated.db);
    assert.deepEqual(ledgerSums(total), rows[0], `total, seed ${seed}`);
    const focus = await readFocus(migrated.db, organizationId, range);
    const picos = focus.reduce((sum, { cost_picos }) => sum + BigInt(cost_picos), 0n);
    assert.equal(String(picos), total.cost_picos, `focus, seed ${seed}`);
  }

  it('adds up to the ledger exactly, however usage is divided', async () => {
    for (let seed = testSeed(); seed < testSeed() + RUNS; seed += 1) {
      const organizationId = randomUUIDv7();
      await appendRequests(migrated.db, randomRows(randomFrom(seed), organizationId));
      await demandLedger(organizationId, seed);
    }
  });

  it('follows the ledger when an estimate is replaced by what the gateway still sent', async () => {
    const seed = testSeed();
    const organizationId = randomUUIDv7();
    const rows = randomRows(randomFrom(seed), organizationId);
    const lost = { error_code: GATEWAY_LOST, usage_source: 'estimated' } as const;
    await appendRequests(
      migrated.db,
      rows.map((row) => ({ ...row, ...lost })),
    );
    await appendRequests(
      migrated.db,
      rows.map((row) => ({ ...row, error_code: null, usage_source: 'reported' as const })),
    );
    await demandLedger(organizationId, seed);
  });

  it('counts usage from before there were teams as that of no team', async () => {
    const organizationId = randomUUIDv7();
    const rows = randomRows(randomFrom(1), organizationId);
    const before = rows.map((row) => ({ ...row, team_id: null, parent_team_id: null, labels: null }));
    await appendRequests(migrated.db, before);
    const [only, ...others] = await readShowback(migrated.db, organizationId, range, { by: 'team' }, 100);
    assert.equal(only?.key, null);
    assert.deepEqual(others, []);
    await demandLedger(organizationId, 1);
  });
});
