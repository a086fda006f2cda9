import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createEventQueue } from './event-queue.ts';

describe('the events of a replay', () => {
  it('run by their moment, and those of one moment in the order of their arrival', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 }), async (moments) => {
        const events = createEventQueue();
        const ran: [number, number][] = [];
        for (const [order, atMs] of moments.entries())
          events.add(atMs, async () => void ran.push([atMs, order]));
        for (let next = events.take(); next !== undefined; next = events.take()) await next.run();
        const expected = moments.map((atMs, order): [number, number] => [atMs, order]);
        assert.deepEqual(
          ran,
          expected.sort((a, b) => a[0] - b[0] || a[1] - b[1]),
        );
        assert.equal(events.nextMs(), Number.POSITIVE_INFINITY);
      }),
    );
  });
});
