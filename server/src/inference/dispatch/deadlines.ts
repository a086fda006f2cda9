import type { Clock } from '../../kit/clock.ts';

/** How long an upstream may take. The egress module has a separate limit for connecting. */
export interface DeadlinesMs {
  /** From sending the request to the response's headers. */
  readonly headers: number;
  /** Between two chunks of the response. */
  readonly idle: number;
  /** From sending the request to the end of the response. */
  readonly total: number;
}

export type DeadlineKind = keyof DeadlinesMs;

/**
 * One timer for all three deadlines. Data only updates a timestamp; when the timer fires, it computes the time to the nearest
 * deadline. Streams of thousands of frames cause no timer work.
 */
export class DeadlineWatch {
  readonly #clock: Clock;
  readonly #limits: DeadlinesMs;
  readonly #expired: (kind: DeadlineKind) => void;
  readonly #startMs: number;
  #markMs: number;
  #waitingForHeaders = true;
  #paused = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(clock: Clock, limits: DeadlinesMs, expired: (kind: DeadlineKind) => void) {
    this.#clock = clock;
    this.#limits = limits;
    this.#expired = expired;
    this.#startMs = clock.monotonicMs();
    this.#markMs = this.#startMs;
    this.#arm();
  }

  headersArrived(): void {
    this.#waitingForHeaders = false;
    this.touch();
    if (this.#limits.idle < this.#limits.headers) this.#arm();
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
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #arm(): void {
    this.stop();
    const { remainingMs } = this.#nearest();
    this.#timer = setTimeout(
      () => {
        const nearest = this.#nearest();
        if (nearest.remainingMs <= 0) this.#expired(nearest.kind);
        else this.#arm();
      },
      Math.max(1, Math.ceil(remainingMs)),
    );
  }

  #nearest(): { kind: DeadlineKind; remainingMs: number } {
    const nowMs = this.#clock.monotonicMs();
    const totalMs = this.#startMs + this.#limits.total - nowMs;
    const stage: DeadlineKind = this.#waitingForHeaders ? 'headers' : 'idle';
    const stageMs =
      this.#paused && stage === 'idle'
        ? Number.POSITIVE_INFINITY
        : this.#markMs + this.#limits[stage] - nowMs;
    return stageMs < totalMs
      ? { kind: stage, remainingMs: stageMs }
      : { kind: 'total', remainingMs: totalMs };
  }
}
