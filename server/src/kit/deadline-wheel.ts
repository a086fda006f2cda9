import type { Clock } from './clock.ts';
import { entryIn } from './entry-in.ts';

/** Deadlines are never early, and late by at most two ticks. */
const TICK_MS = 10;

interface Slot {
  readonly tick: number;
  readonly deadlines: Set<Deadline>;
}

/** Something to be done at a time, unless that time is changed or cleared before. */
export interface Deadline {
  /** Where the wheel keeps it; only the wheel writes this. */
  slot: Slot | null;
  due(): void;
}

/**
 * One timer for all deadlines, whatever their times. It ticks while there are any. To set, move or clear a deadline costs the same however
 * many there are, and a cleared one leaves nothing behind.
 */
export class DeadlineWheel {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #slots = new Map<number, Slot>();
  #timer: NodeJS.Timeout | null = null;
  /** All slots up to this tick are done. */
  #doneTick = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Sets or moves a deadline. */
  set(deadline: Deadline, atMs: number): void {
    this.#start();
    const tick = Math.max(this.#doneTick + 1, Math.ceil(atMs / TICK_MS));
    if (deadline.slot?.tick === tick) return;
    this.clear(deadline);
    const slot = entryIn(this.#slots, tick, () => ({ tick, deadlines: new Set<Deadline>() }));
    slot.deadlines.add(deadline);
    deadline.slot = slot;
  }

  clear(deadline: Deadline): void {
    const { slot } = deadline;
    if (slot === null) return;
    deadline.slot = null;
    slot.deadlines.delete(deadline);
    if (slot.deadlines.size === 0 && this.#slots.get(slot.tick) === slot) this.#slots.delete(slot.tick);
  }

  #start(): void {
    if (this.#timer !== null) return;
    this.#doneTick = this.#tick();
    this.#timer = setTimeout(() => this.#turn(), TICK_MS);
  }

  #turn(): void {
    const nowTick = this.#tick();
    while (this.#doneTick < nowTick) {
      this.#doneTick += 1;
      const slot = this.#slots.get(this.#doneTick);
      if (slot === undefined) continue;
      this.#slots.delete(slot.tick);
      // One that is cleared by another of its slot leaves the set and is not visited.
      for (const deadline of slot.deadlines) {
        this.clear(deadline);
        deadline.due();
      }
    }
    this.#timer = this.#slots.size === 0 ? null : setTimeout(() => this.#turn(), TICK_MS);
  }

  #tick(): number {
    return Math.floor(this.#clock.monotonicMs() / TICK_MS);
  }
}
