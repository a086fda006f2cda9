import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { HealthRecord, HealthReport } from './health-record.ts';
import { afterReport, FORGOTTEN_MS, probeIntervalMs } from './health-report.ts';
import { COUNTED_MS, countsOf } from './health-slots.ts';
import { seenHealth } from './health-view.ts';

const START_MS = 1_800_000_000_000;
const OF = 'configured';

const NOTHING: HealthReport = {
  ended: 0,
  failed: 0,
  by: null,
  latestFailed: null,
  ok: null,
  faults: null,
  error: null,
  cooldownUntilMs: null,
  probeFailed: false,
};

/** A gateway that reports every attempt immediately. */
class Watched {
  record: HealthRecord | null = null;
  nowMs = START_MS;
  okMs: Record<string, number> = {};

  ok(caller = 'anne', tookMs = 10): this {
    this.okMs[caller] = this.nowMs;
    const ok = { atMs: this.nowMs, sentMs: this.nowMs - tookMs };
    return this.report({ ended: 1, latestFailed: false, ok });
  }

  fault({ caller = 'anne', hard = false, tookMs = 10, probe = false } = {}): this {
    const others = Object.entries(this.okMs).filter(([who]) => who !== caller);
    const [atMs, othersOkMs] = [
      this.nowMs,
      others.length === 0 ? null : Math.max(...others.map(([, at]) => at)),
    ];
    const sentMs = atMs - tookMs;
    return this.report({
      ended: 1,
      failed: 1,
      by: { [caller]: 1 },
      latestFailed: true,
      faults: { count: 1, hard: Number(hard), firstMs: atMs, lastMs: atMs, caller, sentMs, othersOkMs },
      error: { atMs, message: hard ? 'connection refused' : 'status 500', status: hard ? null : 500 },
      probeFailed: probe,
    });
  }

  report(report: Partial<HealthReport>): this {
    this.record = afterReport(this.record, OF, { ...NOTHING, ...report }, this.nowMs);
    return this;
  }

  after(ms: number): this {
    this.nowMs += ms;
    return this;
  }

  get isOpen(): boolean {
    return this.record?.open != null;
  }

  get health() {
    return seenHealth({ endpoint: this.record, credential: null, cooldownUntilMs: null }, this.nowMs);
  }
}

describe('the breaker of an endpoint', () => {
  it('opens after three faults in a row, at once if no request can cause them', () => {
    const watched = new Watched().ok().fault({ hard: true }).fault({ hard: true });
    assert.equal(watched.isOpen, false);
    assert.equal(watched.fault({ hard: true }).isOpen, true);
    assert.equal(watched.record?.open?.reason, 'connection refused');
  });
  it('opens after three answers of 500 of an endpoint that has not served lately', () => {
    assert.equal(new Watched().fault().fault().fault().isOpen, true);
  });
  it('opens within half a second where the endpoint has served until then', () => {
    const watched = new Watched();
    for (let n = 0; n < 40; n += 1) watched.after(20).ok();
    for (let ms = 0; ms < 480; ms += 20) assert.equal(watched.after(20).fault().isOpen, false);
    assert.equal(watched.after(40).fault().isOpen, true);
  });
  it('does not open while successes come in between', () => {
    const watched = new Watched();
    for (let round = 0; round < 50; round += 1) watched.after(300).ok().ok().ok().fault({ hard: true });
    assert.equal(watched.isOpen, false);
  });
  it('opens when half of the attempts fail, whatever comes in between', () => {
    const watched = new Watched();
    for (let round = 0; round < 4; round += 1) watched.after(100).ok().fault();
    assert.equal(watched.isOpen, false);
    assert.equal(watched.after(100).ok().fault().isOpen, true);
  });
  it('closes with one success of a request that was sent since', () => {
    const watched = new Watched().fault({ hard: true }).fault({ hard: true }).fault({ hard: true });
    assert.equal(watched.after(1_000).ok('anne', 1_500).isOpen, true, 'was under way before');
    assert.equal(watched.after(1_000).ok('anne', 1_500).isOpen, false);
    assert.equal(watched.record?.row, null);
  });
  it('does not open again for requests that were sent before it closed', () => {
    const watched = new Watched().fault({ hard: true }).fault({ hard: true }).fault({ hard: true });
    watched.after(2_000).ok();
    for (let late = 0; late < 9; late += 1) watched.after(10).fault({ tookMs: 5_000 });
    assert.equal(watched.isOpen, false);
  });
  it('is probed after a second, then after two, four and every five', () => {
    const watched = new Watched().fault({ hard: true }).fault({ hard: true }).fault({ hard: true });
    const waits = [1_000, 2_000, 4_000, 5_000, 5_000].map((expected) => {
      const waitMs = (watched.record?.open?.probeDueMs ?? 0) - watched.nowMs;
      assert.equal(waitMs, expected);
      watched.after(waitMs).fault({ hard: true, probe: true });
      return waitMs;
    });
    assert.deepEqual(waits, [0, 1, 2, 3, 4].map(probeIntervalMs));
  });
  it('starts afresh with another configuration', () => {
    const watched = new Watched().fault({ hard: true }).fault({ hard: true }).fault({ hard: true });
    assert.equal(afterReport(watched.record, 'changed', NOTHING, watched.nowMs).open, null);
  });
  it('is forgotten after a quarter of an hour without an attempt', () => {
    const watched = new Watched().fault({ hard: true }).fault({ hard: true }).fault({ hard: true });
    assert.equal(watched.health.health, 'down');
    assert.equal(watched.after(FORGOTTEN_MS).health.health, 'unknown');
    assert.equal(watched.report({}).isOpen, false);
  });
});

describe('a client that sends what the provider answers with 500', () => {
  it('cannot take the endpoint from others with a burst', () => {
    const watched = new Watched().ok('others');
    for (let poison = 0; poison < 100; poison += 1) watched.fault({ caller: 'attacker' });
    assert.equal(watched.isOpen, false);
  });
  it('cannot do it with a flood between their requests, however many it sends', () => {
    const watched = new Watched();
    for (let round = 0; round < 300; round += 1) {
      watched.after(100).ok('others');
      for (let poison = 0; poison < 20; poison += 1) watched.fault({ caller: 'attacker' });
      assert.equal(watched.isOpen, false, `in round ${round}`);
    }
  });
  it('cannot do it between rare requests of others', () => {
    const watched = new Watched();
    for (let round = 0; round < 20; round += 1) {
      watched.ok('others');
      for (let poison = 0; poison < 40; poison += 1) watched.after(200).fault({ caller: 'attacker' });
      assert.equal(watched.isOpen, false, `in round ${round}`);
    }
  });
  it('does not hide that the endpoint fails for others too', () => {
    const watched = new Watched().ok('others');
    for (let ms = 0; ms < 500; ms += 50) watched.after(50).fault({ caller: 'attacker' });
    assert.equal(watched.after(50).fault({ caller: 'others' }).isOpen, true);
  });
  it('takes it out for itself alone where nobody else is served', () => {
    const watched = new Watched().ok('alone');
    for (let ms = 0; ms < 600; ms += 50) watched.after(50).fault({ caller: 'alone' });
    assert.equal(watched.isOpen, true);
  });
});

describe('the state of an endpoint', () => {
  it('is unknown, healthy, degraded and down, each since the moment it began', () => {
    const watched = new Watched();
    assert.equal(watched.health.health, 'unknown');
    const healthyAt = new Date(watched.nowMs).toISOString();
    for (let n = 0; n < 8; n += 1) watched.ok().after(100);
    assert.deepEqual([watched.health.health, watched.health.detail.since], ['healthy', healthyAt]);
    const degradedAt = new Date(watched.nowMs).toISOString();
    watched.fault();
    assert.deepEqual([watched.health.health, watched.health.detail.since], ['degraded', degradedAt]);
    assert.equal(watched.health.detail.reason, 'the latest request failed: status 500');
    watched.after(100).ok();
    assert.equal(watched.health.health, 'degraded', 'one of ten failed');
    assert.equal(watched.health.detail.reason, '10% of requests failed in the last 5 minutes');
    assert.equal(watched.health.detail.error_share, 0.1);
    watched.after(COUNTED_MS + 10_000);
    assert.equal(watched.health.health, 'healthy', 'the failure is too old to count');
    const { since } = watched.health.detail;
    assert.equal(watched.after(60_000).health.detail.since, since, 'the same moment for a later reader');
  });
  it('is rate-limited in a cooldown, since it began', () => {
    const watched = new Watched();
    const sinceMs = watched.nowMs;
    watched
      .report({ cooldownUntilMs: sinceMs + 5_000 })
      .after(2_000)
      .report({ cooldownUntilMs: sinceMs + 9_000 });
    assert.equal(watched.health.health, 'rate_limited');
    assert.equal(watched.health.detail.since, new Date(sinceMs).toISOString());
    assert.equal(watched.health.cooldownUntilMs, sinceMs + 9_000);
    assert.notEqual(watched.after(7_001).health.health, 'rate_limited');
  });
});

describe('any history of reports', () => {
  const step = fc.record({
    ms: fc.constantFrom(0, 5, 200, 1_500, 9_000, 40_000, 400_000),
    kind: fc.constantFrom('ok', 'soft', 'hard', 'probe', 'late_ok'),
    caller: fc.constantFrom('anne', 'bert', 'cleo'),
  });

  it('keeps the record bounded, its counts exact, and closed after a success that was sent since', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const watched = new Watched();
        const ended: number[] = [];
        for (const { ms, kind, caller } of steps) {
          watched.after(ms);
          ended.push(watched.nowMs);
          if (kind === 'ok') watched.ok(caller, 0);
          else if (kind === 'late_ok') watched.ok(caller, 60_000);
          else watched.fault({ caller, hard: kind !== 'soft', probe: kind === 'probe' });
          const { record } = watched;
          assert.ok(record !== null);
          if (kind === 'ok') assert.deepEqual([record.open, record.row], [null, null]);
          assert.ok(record.slots.length <= 32);
          assert.ok(JSON.stringify(record).length < 8_000);
          const counted = countsOf(record.slots, COUNTED_MS, watched.nowMs).ended;
          const exact = (spanMs: number) => ended.filter((at) => at > watched.nowMs - spanMs).length;
          assert.ok(counted >= Math.min(exact(COUNTED_MS), counted));
          assert.ok(counted <= exact(COUNTED_MS + 10_000));
          if (record.open !== null) assert.ok(record.open.probeDueMs <= watched.nowMs + 5_000);
        }
      }),
      { numRuns: 300 },
    );
  });
});
