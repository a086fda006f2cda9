import type { Clock } from '../../kit/clock.ts';
import type { HealthSubject } from './health-subject.ts';
import type { HealthSubjects } from './health-subjects.ts';
import type { HealthReporter } from './report-health.ts';
import type { SharedRecords } from './shared-records.ts';

const TICK_MS = 1_000;
/** While all is well, counts are reported this often. */
const COUNTS_MS = 5_000;
/** An announcement can get lost, so what is wrong is read again this often. */
const READ_AGAIN_TICKS = 2;
const PRUNE_TICKS = 60;
/** A tick leaves what is beyond this for the next. */
const REPORTS_PER_TICK_MAX = 2_000;
const CONCURRENT_MAX = 20;

/** Keeps this process and the store in step, off the path of requests. */
export interface HealthKeeper {
  /** Reports the subject's counts when they are due. */
  dirty(subject: HealthSubject): void;
  /** Reports these now. Never throws. */
  flush(some: readonly HealthSubject[]): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createHealthKeeper(deps: {
  readonly clock: Clock;
  readonly subjects: HealthSubjects;
  readonly reporter: HealthReporter;
  readonly shared: SharedRecords;
}): HealthKeeper {
  const { clock, subjects, reporter, shared } = deps;
  let dirty = new Set<HealthSubject>();
  let timer: NodeJS.Timeout | null = null;
  let ticks = 0;
  let unsubscribe: (() => Promise<void>) | null = null;

  async function flush(some: readonly HealthSubject[]): Promise<void> {
    const waiting = [...some];
    const one = async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await reporter.reportNow(next);
    };
    await Promise.all(Array.from({ length: Math.min(CONCURRENT_MAX, waiting.length) }, one));
  }

  async function flushDue(isLast: boolean): Promise<void> {
    const nowMs = clock.monotonicMs();
    const due: HealthSubject[] = [];
    const rest = new Set<HealthSubject>();
    for (const subject of dirty) {
      if (!subject.isDirty || subject.isDropped) continue;
      const isDue = isLast || subject.record === null || nowMs - subject.reportedMs >= COUNTS_MS;
      if (isDue && due.length < REPORTS_PER_TICK_MAX) due.push(subject);
      else rest.add(subject);
    }
    dirty = rest;
    await flush(due);
  }

  function tick(): void {
    ticks += 1;
    if (ticks % PRUNE_TICKS === 0) subjects.prune();
    const work = [flushDue(false)];
    if (ticks % READ_AGAIN_TICKS === 0 && subjects.alarmed.size > 0)
      work.push(shared.refresh([...subjects.alarmed]));
    // The store reports its own outage.
    Promise.all(work).catch(() => undefined);
  }

  return {
    dirty(subject) {
      subject.isDirty = true;
      dirty.add(subject);
    },
    flush,
    async start() {
      timer = setInterval(tick, TICK_MS);
      timer.unref();
      unsubscribe = await shared.subscribe();
    },
    async stop() {
      if (timer !== null) clearInterval(timer);
      await unsubscribe?.();
      await flushDue(true);
    },
  };
}
