import type { Clock } from '../../kit/clock.ts';
import type { Deadline, DeadlineWheel } from '../../kit/deadline-wheel.ts';

/** How long an upstream may take. The egress module has a separate limit for connecting. */
export interface DeadlinesMs {
  /** From sending the request to the response's headers. */
  readonly headers: number;
  /** Between two chunks of the response. */
  readonly idle: number;
  /** From sending the request to the end of the response. */
  readonly total: number;
}

export interface WatchDeps {
  readonly deadlines: DeadlineWheel;
  readonly clock: Clock;
}

export type DeadlineKind = keyof DeadlinesMs;

/**
 * One deadline on the wheel for all three. Data only updates a timestamp; when the deadline is due, it computes the time to the nearest
 * one. Streams of thousands of frames cause no timer work.
 */
export class DeadlineWatch implements Deadline {
  slot: Deadline['slot'] = null;
  readonly #wheel: DeadlineWheel;
  readonly #clock: Clock;
  readonly #limits: DeadlinesMs;
  readonly #expired: (kind: DeadlineKind) => void;
  readonly #startMs: number;
  #markMs: number;
  #waitingForHeaders = true;
  #paused = false;

  constructor({ deadlines, clock }: WatchDeps, limits: DeadlinesMs, expired: (kind: DeadlineKind) => void) {
    this.#wheel = deadlines;
    this.#clock = clock;
    this.#limits = limits;
    this.#expired = expired;
    this.#startMs = clock.monotonicMs();
    this.#markMs = this.#startMs;
    this.#wheel.set(this, this.#nearest().atMs);
  }

  headersArrived(): void {
    this.#waitingForHeaders = false;
    this.touch();
    if (this.#limits.idle < this.#limits.headers) this.#wheel.set(this, this.#nearest().atMs);
  }

  touch(): void {
    this.#markMs = this.#clock.monotonicMs();
  }

  /** While Relay pauses the upstream for a slow client, its silence does not count. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.touch();
    // A deadline that fires during the pause is set again to the total limit, so `resume` has to set the idle limit.
    this.#wheel.set(this, this.#nearest().atMs);
  }

  stop(): void {
    this.#wheel.clear(this);
  }

  due(): void {
    const { kind, atMs } = this.#nearest();
    if (atMs <= this.#clock.monotonicMs()) this.#expired(kind);
    else this.#wheel.set(this, atMs);
  }

  #nearest(): { kind: DeadlineKind; atMs: number } {
    const totalMs = this.#startMs + this.#limits.total;
    const stage: DeadlineKind = this.#waitingForHeaders ? 'headers' : 'idle';
    const stageMs =
      this.#paused && stage === 'idle' ? Number.POSITIVE_INFINITY : this.#markMs + this.#limits[stage];
    return stageMs < totalMs ? { kind: stage, atMs: stageMs } : { kind: 'total', atMs: totalMs };
  }
}
