import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../clock.ts';
import { createLog } from '../log.ts';
import { createTraceExporter } from './trace-exporter.ts';

const SPAN = Buffer.alloc(64 * 1_024);
const parts = {
  resource: { 'service.name': 'relay' },
  version: '1',
  clock: systemClock,
  log: createLog('silent'),
};

describe('trace exporter', () => {
  it('keeps a bounded queue while the receiver hangs, and counts what it drops', async () => {
    let answer: () => void = () => undefined;
    const exporter = createTraceExporter({
      ...parts,
      send: () => new Promise((resolve) => (answer = resolve)),
    });
    for (let trace = 0; trace < 1_000; trace += 1) exporter.take([SPAN, SPAN]);
    const { dropped, queued, exported } = exporter.state();
    assert.equal(exported, 0);
    // 4 MiB wait, and one batch of 256 KiB is on its way.
    assert.ok(queued >= 60 && queued <= 68, String(queued));
    assert.equal(dropped, 2_000 - queued - 4);
    answer();
    await exporter.stop(1);
  });

  it('counts what the receiver does not take, and goes on with the next', async () => {
    let isDown = true;
    const exporter = createTraceExporter({
      ...parts,
      send: () => (isDown ? Promise.reject(new Error('the receiver returned 503')) : Promise.resolve()),
    });
    exporter.take([SPAN, SPAN, SPAN, SPAN]);
    await new Promise(setImmediate);
    assert.deepEqual(exporter.state(), { exported: 0, dropped: 0, failed: 4, queued: 0 });
    isDown = false;
    exporter.take([SPAN]);
    await exporter.stop(1_000);
    assert.deepEqual(exporter.state(), { exported: 1, dropped: 0, failed: 4, queued: 0 });
  });

  it('stops in time although the receiver hangs', async () => {
    const exporter = createTraceExporter({ ...parts, send: () => new Promise(() => undefined) });
    exporter.take([SPAN]);
    const startMs = performance.now();
    await exporter.stop(50);
    assert.ok(performance.now() - startMs < 1_000);
  });
});
