import { randomUUID } from 'node:crypto';
import pg from 'pg';

const BATCH = 10_000;
const MICRO = 1_000_000n;

/** xorshift64*: the same amounts for the same seed. */
function generator(seed: bigint): () => bigint {
  let state = BigInt.asUintN(64, seed) || 1n;
  return () => {
    state ^= state >> 12n;
    state = BigInt.asUintN(64, state ^ (state << 25n));
    state ^= state >> 27n;
    return BigInt.asUintN(64, state * 0x2545f4914f6cdd1dn);
  };
}

/** Amounts from nothing to a thousand dollars, most of them small. */
function amount(next: () => bigint): bigint {
  const digits = next() % 16n;
  return next() % 10n ** digits;
}

/** Adds daily sums of one request each to a month of the ledger, and returns their exact sum in 10⁻¹² dollar. */
export async function addRandomRows(
  url: string,
  { count, seed, month }: { count: number; seed: bigint; month: string },
): Promise<bigint> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string }>('select id from organizations limit 1');
    const next = generator(seed);
    let sum = 0n;
    for (let from = 0; from < count; from += BATCH) {
      const amounts = Array.from({ length: Math.min(BATCH, count - from) }, () => amount(next));
      sum += amounts.reduce((one, other) => one + other, 0n);
      const micros = amounts.map((picos) => (picos + MICRO - 1n) / MICRO);
      const rounding = amounts.map((picos, index) => (micros[index] ?? 0n) * MICRO - picos);
      await client.query(
        `insert into request_rollups (organization_id, bucket, family, bucket_start, lane_id, requests_completed,
          requests_metered, cost_micros, cost_rounding_picos)
        select $1, 'day', 'resource', $2::timestamptz, row.lane_id, 1, 1, row.micros, row.rounding
        from unnest($3::uuid[], $4::bigint[], $5::bigint[]) as row (lane_id, micros, rounding)`,
        [
          rows[0]?.id,
          `${month}-03T00:00:00Z`,
          amounts.map(() => randomUUID()),
          micros.map(String),
          rounding.map(String),
        ],
      );
    }
    return sum;
  } finally {
    await client.end();
  }
}
