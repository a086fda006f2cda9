import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { createMetrics, createTally } from './metrics.ts';

const BOUNDS = [0.01, 0.1, 1];

describe('metrics', () => {
  it('are written as the library writes its own', async () => {
    const library = new Registry();
    const registers = [library];
    const histogram = new Histogram({ name: 'took_seconds', help: 'How long.', buckets: BOUNDS, registers });
    const counter = new Counter({ name: 'seen_total', help: 'Seen.', labelNames: ['kind'], registers });
    const gauge = new Gauge({ name: 'held', help: 'Held.', registers });
    const tally = createTally(BOUNDS);
    for (const value of [0.005, 0.01, 0.02, 0.5, 1, 7, 0]) {
      histogram.observe(value);
      tally.observe(value);
    }
    counter.inc({ kind: 'a"b' }, 3);
    gauge.set(-2.5);

    const metrics = createMetrics({ processMetrics: false });
    metrics.register('took_seconds', { kind: 'histogram', bounds: BOUNDS, help: 'How long.' }, () => tally);
    metrics.register('seen_total', { kind: 'counter', labels: ['kind'], help: 'Seen.' }, () => [
      [{ kind: 'a"b' }, 3],
    ]);
    metrics.register('held', { kind: 'gauge', help: 'Held.' }, () => -2.5);
    assert.equal(await metrics.text(), await library.metrics());
    assert.equal(metrics.contentType, library.contentType);
  });

  it('are read when a scraper asks, and an unknown value has no sample', async () => {
    const metrics = createMetrics({ processMetrics: false });
    let held: number | null = 1;
    metrics.register('held', { kind: 'gauge', help: 'Held.' }, () => held);
    assert.match(await metrics.text(), /^held 1$/m);
    held = 2;
    assert.match(await metrics.text(), /^held 2$/m);
    held = null;
    assert.doesNotMatch(await metrics.text(), /^held /m);
  });

  it('with those of the process tell of event loop and memory', async () => {
    const text = await createMetrics({ processMetrics: true }).text();
    for (const name of ['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes'])
      assert.match(text, new RegExp(`^${name} [0-9.e-]+$`, 'm'));
  });

  it('follow the limit of open files when it changes', async () => {
    const metrics = createMetrics({ processMetrics: true });
    const limits = async () => Number(/^process_max_fds (\d+)$/m.exec(await metrics.text())?.[1]);
    const before = await limits();
    execFileSync('prlimit', [`--pid=${process.pid}`, `--nofile=${before - 1}:`]);
    assert.equal(await limits(), before - 1);
  });

  it('take a value for less than a microsecond', () => {
    const tally = createTally([0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60]);
    const values = 200_000;
    let best = Number.POSITIVE_INFINITY;
    for (let turn = 0; turn < 5; turn += 1) {
      const before = process.cpuUsage();
      for (let index = 0; index < values; index += 1) tally.observe((index % 1_000) / 100);
      best = Math.min(best, process.cpuUsage(before).user);
    }
    // The bound is ten times what it takes on a quiet machine.
    assert.ok((best * 1e3) / values < 1_000, `${(best * 1e3) / values} ns`);
  });
});
