import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { mostTaken, type Sample, takenIn } from './taken-time.ts';
import { TimeBoundError, watchScheduler, within } from './within.ts';

const BUSY = 'for (;;);';
const WORK_CPU_MS = 250;
/** Works for that much of a core's time at a word on its input, and says so. */
const WORK = `
  process.stdin.once('data', () => {
    const start = process.cpuUsage();
    const usedMs = () => { const { user, system } = process.cpuUsage(start); return (user + system) / 1e3; };
    while (usedMs() < ${WORK_CPU_MS});
    process.stdout.write('done');
  });
  process.stdout.write('ready');`;

type Child = ChildProcess & { readonly pid: number };

function startOnOneCore(program: string): Child {
  return spawn('taskset', ['-c', '0', process.execPath, '-e', program]) as Child;
}

const outputOf = ({ stdout }: Child) => once(stdout as NodeJS.EventEmitter, 'data');

/** Works beside two busy loops on the same core, which leave it a third. */
async function workCrowded(then: (worker: Child, work: () => Promise<unknown>) => Promise<void>) {
  const children = [WORK, BUSY, BUSY].map(startOnOneCore);
  const [worker] = children as [Child];
  try {
    await outputOf(worker);
    await sleep(300);
    await then(worker, () => {
      worker.stdin?.write('go');
      return outputOf(worker);
    });
  } finally {
    for (const child of children) child.kill('SIGKILL');
  }
}

const thrownBy = (work: Promise<unknown>) => work.then(() => null).catch((error: unknown) => error);

describe('within', () => {
  it('answers what the work does', async () => {
    assert.equal(await within(5_000, [], 'nothing', () => Promise.resolve('result')), 'result');
    const error = new Error('the work failed');
    assert.equal(await thrownBy(within(5_000, [], 'nothing', () => Promise.reject(error))), error);
  });

  it('subtracts what busy loops take', () =>
    workCrowded(async (worker, work) => {
      const startMs = performance.now();
      await within(WORK_CPU_MS * 1.6, [worker], 'the work', work);
      const tookMs = performance.now() - startMs;
      assert.ok(tookMs > WORK_CPU_MS * 1.6, `it took ${tookMs} ms: the loops took nothing`);
    }));

  it('does not judge what is late where most was taken', () =>
    workCrowded(async (worker, work) => {
      const error = await thrownBy(within(0, [worker], 'the work', work));
      assert.ok(error instanceof TimeBoundError);
      assert.equal(error.judged, false);
    }));
});

describe('a watch', () => {
  it('does not judge what is late while the host took the cores', async () => {
    let stolenMs = 0;
    using watch = watchScheduler(
      [],
      () => new Map(),
      () => (stolenMs += 10_000),
    );
    await sleep(200);
    assert.throws(() => watch.inTime(false, 'a count'), { code: 'RELAY_TIME_BOUND', judged: false });
  });

  it('judges what is late though nothing was taken', async () => {
    using watch = watchScheduler(
      [],
      () => new Map(),
      () => 0,
    );
    await sleep(200);
    watch.within(60, 60, 'one of many');
    watch.typicallyWithin(60, 60, 'a median');
    watch.inTime(true, 'a count');
    assert.throws(() => watch.within(50, 60, 'one of many'), {
      code: 'RELAY_TIME_BOUND',
      judged: true,
      message: /^one of many: 60.0 ms, and 50 are allowed \(the scheduler took 0 ms of \d+\)$/,
    });
    for (const late of [
      () => watch.inTime(false, 'a count'),
      () => watch.within(Number.NaN, 60, 'no bound'),
      () => watch.typicallyWithin(50, 60, 'a median'),
      () => watch.within(60, Number.NaN, 'nothing measured'),
    ])
      assert.throws(late, { code: 'RELAY_TIME_BOUND', judged: true });
  });
});

describe('what the scheduler took', () => {
  const of = (...waitedMs: number[]): Sample => ({ ms: 50, waitedMs });

  it('is the time in which one of the processes waited', () => {
    assert.deepEqual(takenIn([]), { ofMs: 0, ms: 0, shareMost: 0 });
    assert.deepEqual(takenIn([of(0, 0), of(0, 0)]), { ofMs: 100, ms: 0, shareMost: 0 });
    assert.deepEqual(takenIn([of(25, 0), of(25, 50)]), { ofMs: 100, ms: 75, shareMost: 0.5 });
    // What the system counts late may be more than the time since.
    assert.equal(takenIn([of(80, 0)]).ms, 50);
  });

  it('of a duration is the most of any span of that length', () => {
    const calm = Array.from({ length: 10 }, () => of(0));
    const samples = [...calm, of(40), of(20), ...calm];
    assert.equal(Math.round(mostTaken(samples, 30).ms), 60);
    assert.equal(Math.round(mostTaken(samples, 5_000).ms), 60);
    assert.equal(mostTaken(samples, 5_000).ofMs, 1_100);
    assert.equal(Math.round(mostTaken([...calm, of(10), ...calm, of(40)], 100).ms), 40);
    assert.ok(mostTaken(samples, 100).ofMs <= 150);
    assert.equal(mostTaken([], 100).ms, 0);
  });
});
