import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { askOf } from './both-engines.fixture.ts';
import { createKeptSettlements, type KeptSettlement } from './kept-settlements.ts';

const ORGANIZATION = 'organization';
const SHARD = 'shard';

function settled(
  operationId: string,
  over: { settledMs?: number | null; record?: string } = {},
): KeptSettlement {
  const { settledMs = 0, record = 'r' } = over;
  const actual = { dispatched: true, tokens: 1, spendMicros: 1 };
  return {
    settlement: { organizationId: ORGANIZATION, operationId, actual, record },
    operation: {
      ask: askOf(ORGANIZATION, operationId),
      state: 'dispatched',
      candidate: 0,
      dispatchedMs: 0,
      stateSinceMs: 0,
      waitsFor: null,
      leasedMs: 0,
      journaled: false,
      earlier: [],
    },
    shard: SHARD,
    settledMs,
    sending: null,
  };
}

/** What is kept, with a ledger that has these requests. */
function keptWith(posted: ReadonlySet<string>) {
  const time = { nowMs: 0 };
  const reads: number[] = [];
  const kept = createKeptSettlements({
    clock: { nowMs: () => time.nowMs, monotonicMs: () => time.nowMs },
    posted: async (ids) => {
      reads.push(ids.length);
      return new Set(ids.filter((id) => posted.has(id)));
    },
  });
  const left = () => kept.of(SHARD).map(({ settlement }) => settlement.operationId);
  return { kept, time, reads, left };
}

describe('settlements that the ledger may not have', () => {
  it('are kept until it has them, and those that the store has not taken for as long as that takes', async () => {
    const { kept, time, left } = keptWith(new Set(['b']));
    for (const id of ['a', 'b']) kept.add(settled(id));
    kept.add(settled('unsent', { settledMs: null }));
    await kept.forgetPosted();
    assert.deepEqual(left(), ['a', 'unsent']);
    time.nowMs = 600_001;
    await kept.forgetPosted();
    assert.deepEqual(left(), ['unsent']);
  });

  it('are kept while a lease may be there that they end', async () => {
    const { kept, left } = keptWith(new Set(['a', 'b']));
    const restored = { ...settled('a'), isRestored: true };
    for (const each of [restored, settled('b')]) kept.add(each);
    await kept.forgetPosted();
    assert.deepEqual(left(), ['a']);
    restored.isRestored = false;
    await kept.forgetPosted();
    assert.deepEqual(left(), []);
  });

  it('are asked for in parts, up to the first part of which it has none', async () => {
    const ids = Array.from({ length: 3_500 }, (_, index) => String(index));
    const { kept, reads, left } = keptWith(new Set(ids.slice(0, 1_500)));
    for (const id of ids) kept.add(settled(id));
    await kept.forgetPosted();
    assert.deepEqual(reads, [1_000, 1_000, 1_000]);
    assert.equal(left().length, 2_000);
  });

  it('are bounded in number and in size, and the oldest are forgotten', () => {
    const many = keptWith(new Set());
    for (let index = 0; index < 20_002; index += 1) many.kept.add(settled(String(index)));
    assert.deepEqual([many.left().length, many.left()[0]], [20_000, '2']);
    const large = keptWith(new Set());
    const record = 'x'.repeat(8_000_000);
    for (let index = 0; index < 9; index += 1) large.kept.add(settled(String(index), { record }));
    assert.equal(large.left()[0], '2');
    const [first] = large.kept.of(SHARD);
    assert.ok(first !== undefined);
    large.kept.delete(first);
    large.kept.add(settled('next', { record }));
    assert.equal(large.left()[0], '3', 'what is deleted gives its room back');
  });
});
