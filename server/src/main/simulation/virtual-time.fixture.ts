import { AsyncLocalStorage } from 'node:async_hooks';
import type { Random } from '@relay/testbed/random';
import type { Clock } from '../../kit/clock.ts';

/** One process of the simulated deployment: what it scheduled dies with it, and waits while it is frozen. */
export interface SimProcess {
  readonly name: string;
  readonly clock: Clock;
  state: 'running' | 'frozen' | 'dead';
  /** What came due while it was frozen. */
  readonly parked: SimEvent[];
  /** Since when it does nothing; null while it runs. */
  stoppedMs: number | null;
}

interface SimEvent {
  readonly atMs: number;
  readonly seq: number;
  readonly process: SimProcess | null;
  readonly what: string;
  readonly run: () => void;
  isCancelled: boolean;
}

/** Runs one event after the other, in the order of their time. Nothing happens but in an event. */
export interface VirtualTime {
  nowMs(): number;
  /** Null: happens to no process, such as in a store or at a provider. */
  after(delayMs: number, process: SimProcess | null, what: string, run: () => void): { cancel(): void };
  startProcess(name: string, skewMs: number): SimProcess;
  kill(process: SimProcess): void;
  freeze(process: SimProcess): void;
  thaw(process: SimProcess): void;
  /** Acts as a process does, from outside an event of its own. */
  actAs<T>(process: SimProcess, act: () => T): T;
  /** Runs every event up to then. */
  runUntil(untilMs: number): Promise<void>;
  note(what: string): void;
}

const running = new AsyncLocalStorage<SimProcess | null>();
const real = {
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval,
  setImmediate: globalThis.setImmediate,
  clearTimeout: globalThis.clearTimeout,
  clearInterval: globalThis.clearInterval,
  random: Math.random,
  dateNow: Date.now,
  performanceNow: performance.now.bind(performance),
};

export function createVirtualTime(startMs: number, trace: ((line: string) => void) | null): VirtualTime {
  const events = createHeap();
  let nowMs = startMs;
  let seq = 0;

  function push(atMs: number, process: SimProcess | null, what: string, run: () => void): SimEvent {
    seq += 1;
    const event = { atMs, seq, process, what, run, isCancelled: false };
    events.push(event);
    return event;
  }

  function note(what: string): void {
    trace?.(`${(nowMs - startMs).toFixed(3)} ${what}`);
  }

  function happen(event: SimEvent): boolean {
    const { process, what, run } = event;
    if (event.isCancelled || process?.state === 'dead') return false;
    if (process?.state === 'frozen') {
      process.parked.push(event);
      return false;
    }
    if (trace !== null) note(`${process?.name ?? '-'} ${what}`);
    running.run(process, run);
    return true;
  }

  return {
    nowMs: () => nowMs,
    after(delayMs, process, what, run) {
      const event = push(nowMs + Math.max(0, delayMs), process, what, run);
      return {
        cancel() {
          event.isCancelled = true;
        },
      };
    },
    startProcess(name, skewMs) {
      const startedMs = nowMs;
      const clock = { nowMs: () => Math.floor(nowMs + skewMs), monotonicMs: () => nowMs - startedMs + 1_000 };
      return { name, clock, state: 'running', parked: [], stoppedMs: null };
    },
    kill(process) {
      process.state = 'dead';
      process.stoppedMs ??= nowMs;
      process.parked.length = 0;
    },
    freeze(process) {
      if (process.state !== 'running') return;
      process.state = 'frozen';
      process.stoppedMs = nowMs;
    },
    thaw(process) {
      if (process.state !== 'frozen') return;
      process.state = 'running';
      process.stoppedMs = null;
      for (const { what, run, isCancelled } of process.parked.splice(0))
        if (!isCancelled) push(nowMs, process, what, run);
    },
    actAs: (process, act) => running.run(process, act),
    async runUntil(untilMs) {
      for (let next = events.pop(untilMs); next !== null; next = events.pop(untilMs)) {
        nowMs = Math.max(nowMs, next.atMs);
        // Everything that follows from an event without waiting for another belongs to it.
        if (happen(next)) await new Promise<void>((resolve) => real.setImmediate(resolve));
      }
      nowMs = Math.max(nowMs, untilMs);
    },
    note,
  };
}

/** The process whose code runs; null in an event of no process. Throws outside the simulation. */
export function currentProcess(): SimProcess | null {
  const process = running.getStore();
  if (process === undefined) throw new Error('this runs outside the simulation');
  return process;
}

/**
 * Timers, clocks and randomness of the whole program come from the simulation until the returned function is called. Code
 * outside its processes, such as the test runner, keeps the real ones.
 */
export function takeOverGlobals(time: VirtualTime, random: Random): () => void {
  const isOurs = () => running.getStore() !== undefined;
  const unit = () => random.integer(0, 2 ** 30) / (2 ** 30 + 1);
  const fakes = {
    setTimeout: (run: () => void, delayMs = 1) =>
      isOurs() ? startTimer(time, run, delayMs, false) : real.setTimeout(run, delayMs),
    setInterval: (run: () => void, delayMs = 1) =>
      isOurs() ? startTimer(time, run, delayMs, true) : real.setInterval(run, delayMs),
    setImmediate: (run: () => void) => (isOurs() ? startTimer(time, run, 0, false) : real.setImmediate(run)),
    clearTimeout: (timer: unknown) => stopTimer(timer, real.clearTimeout),
    clearInterval: (timer: unknown) => stopTimer(timer, real.clearInterval),
  };
  Object.assign(globalThis, fakes);
  Math.random = () => (isOurs() ? unit() : real.random());
  Date.now = () => running.getStore()?.clock.nowMs() ?? real.dateNow();
  performance.now = () => running.getStore()?.clock.monotonicMs() ?? real.performanceNow();
  return () => {
    const { random: realRandom, dateNow, performanceNow, ...timers } = real;
    Object.assign(globalThis, timers);
    Math.random = realRandom;
    Date.now = dateNow;
    performance.now = performanceNow;
  };
}

class SimTimer {
  cancel: () => void = () => undefined;
  isOver = false;
  unref(): this {
    return this;
  }
  ref(): this {
    return this;
  }
}

function startTimer(time: VirtualTime, run: () => void, delayMs: number, repeats: boolean): SimTimer {
  const timer = new SimTimer();
  const process = currentProcess();
  // As Node does: whole milliseconds, at least one.
  const inMs = Math.max(1, Math.trunc(delayMs) || 1);
  const arm = () => {
    const event = time.after(inMs, process, 'timer', () => {
      if (timer.isOver) return;
      if (repeats) arm();
      else timer.isOver = true;
      run();
    });
    timer.cancel = event.cancel;
  };
  arm();
  return timer;
}

function stopTimer(timer: unknown, stopReal: (timer: never) => void): void {
  if (!(timer instanceof SimTimer)) {
    stopReal(timer as never);
    return;
  }
  timer.isOver = true;
  timer.cancel();
}

/** A binary heap by time, then by the order of scheduling. */
function createHeap() {
  const items: SimEvent[] = [];
  const isBefore = (a: SimEvent, b: SimEvent) => a.atMs < b.atMs || (a.atMs === b.atMs && a.seq < b.seq);

  function at(index: number): SimEvent {
    const item = items[index];
    if (item === undefined) throw new RangeError(`no event ${index}`);
    return item;
  }

  function swap(a: number, b: number): void {
    [items[a], items[b]] = [at(b), at(a)];
  }

  function sink(from: number): void {
    for (let index = from; ; ) {
      const left = 2 * index + 1;
      let least = index;
      for (const child of [left, left + 1])
        if (child < items.length && isBefore(at(child), at(least))) least = child;
      if (least === index) return;
      swap(index, least);
      index = least;
    }
  }

  return {
    push(event: SimEvent): void {
      items.push(event);
      for (let index = items.length - 1; index > 0; ) {
        const parent = (index - 1) >> 1;
        if (!isBefore(at(index), at(parent))) return;
        swap(index, parent);
        index = parent;
      }
    },
    /** The next one that is due by then. */
    pop(untilMs: number): SimEvent | null {
      const [first] = items;
      if (first === undefined || first.atMs > untilMs) return null;
      const last = items.pop();
      if (last !== undefined && last !== first) {
        items[0] = last;
        sink(0);
      }
      return first;
    },
  };
}
