import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSharedReads } from './shared-reads.ts';

/** Reads that the test ends; each returns how many had begun with it. */
function controlled() {
  const begun: { key: string; resolve: (value: number) => void; reject: (error: Error) => void }[] = [];
  const read = createSharedReads(
    (key: string) =>
      new Promise<number>((resolve, reject) => {
        begun.push({ key, resolve, reject });
      }),
  );
  return { begun, read };
}

describe('shared reads', () => {
  it('a caller never gets a read that began before the call, and all who come meanwhile share the next', async () => {
    const { begun, read } = controlled();
    const first = read('a');
    const later = Array.from({ length: 100 }, () => read('a'));
    assert.equal(begun.length, 1);
    begun[0]?.resolve(1);
    assert.equal(await first, 1);
    await new Promise(setImmediate);
    assert.equal(begun.length, 2);
    begun[1]?.resolve(2);
    assert.deepEqual(new Set(await Promise.all(later)), new Set([2]));
  });

  it('holds for callers who come in the very moment between two reads', async () => {
    const { begun, read } = controlled();
    const answers: Promise<number>[] = [read('a'), read('a')];
    const begunAtCall: number[] = [];
    begun[0]?.resolve(1);
    // Microtasks between the end of one read and the start of the next.
    for (let turn = 0; turn < 10; turn += 1) {
      await Promise.resolve();
      begunAtCall.push(begun.length);
      answers.push(read('a'));
    }
    const values: number[] = [];
    void Promise.all(answers.slice(2).map(async (answer, index) => values.push(index, await answer)));
    for (let round = 1; round < 5; round += 1) {
      await new Promise(setImmediate);
      begun[round]?.resolve(round + 1);
    }
    await Promise.all(answers);
    for (let index = 0; index < values.length; index += 2) {
      const [caller = 0, answeredBy = 0] = [values[index], values[index + 1]];
      assert.ok(answeredBy > (begunAtCall[caller] ?? 0), `caller ${caller} got read ${answeredBy}`);
    }
  });

  it('a failed read fails only its own callers', async () => {
    const { begun, read } = controlled();
    const failing = read('a');
    const next = read('a');
    begun[0]?.reject(new Error('away'));
    await assert.rejects(failing, /away/);
    await new Promise(setImmediate);
    begun[1]?.resolve(7);
    assert.equal(await next, 7);
    await new Promise(setImmediate);
    const again = read('a');
    begun[2]?.resolve(8);
    assert.equal(await again, 8);
  });

  it('different things are read beside one another', () => {
    const { begun, read } = controlled();
    void read('a');
    void read('b');
    assert.deepEqual(
      begun.map(({ key }) => key),
      ['a', 'b'],
    );
  });
});
